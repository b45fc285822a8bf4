import GraphQLLanguage
import RelayArtifacts
import RelayIR

/// Writes the types of operations and fragments.
struct DefinitionWriter {
    let types: SwiftTypes
    private var access: String { types.options.access.modifier }
    private var shapes: ShapeBuilder { ShapeBuilder(schema: types.schema) }

    init(_ types: SwiftTypes) { self.types = types }

    // MARK: Operations

    func write(_ operation: CompiledOperation, to text: inout SwiftText) {
        let name = types.names.definition(operation.request.params.name)
        let isMutation = operation.definition.operation == .mutation
        let conformance = isMutation ? "MutationOperation" : "Relay.Operation"
        text.document(operation.definition.description?.value)
        text.block("\(access)struct \(name): \(conformance), Hashable, Sendable") { text in
            text.artifact(
                "\(access)static let node = ConcreteRequest", operation.request.artifact)
            writeVariables(operation, &text)
            text.space()
            DataWriter(types: types).write(
                shapes.shape(of: operation.selections), as: "Data", to: &text)
            if isMutation {
                text.space()
                let shapes = ShapeBuilder(schema: types.schema, isComplete: true)
                ResponseWriter(shapes.shape(of: operation.completeSelections), types)
                    .write(to: &text)
            }
        }
    }

    private func writeVariables(_ operation: CompiledOperation, _ text: inout SwiftText) {
        guard !operation.variables.isEmpty else {
            text.line("\(access)typealias Variables = EmptyVariables")
            text.line("\(access)var variables: EmptyVariables")
            text.space()
            text.short(
                "\(access)init(variables: EmptyVariables)",
                "self.variables = variables")
            return
        }
        let variables = InputTypes(types: types).variables(operation)
        text.line("\(access)var variables: Variables")
        text.space()
        text.short("\(access)init(variables: Variables)", "self.variables = variables")
        let parameters = variables.parameters
        text.space()
        text.list("\(access)init", "(", parameters.declared, ")", " {")
        text.indented { text in
            text.list("self.init(variables: Variables", "(", parameters.passed, ")", ")")
        }
        text.line("}")
        text.space()
        variables.write(access, to: &text)
    }

    // MARK: Fragments

    func write(_ fragment: CompiledFragment, to text: inout SwiftText) {
        let node = fragment.node
        let name = types.names.definition(node.name)
        let key = types.names.key(node.name)
        let pointer = "fragment_\(node.name)"
        text.document(fragment.definition.description?.value)
        text.block("\(access)struct \(name): \(conformance(node)), Hashable, Sendable") { text in
            text.artifact("\(access)static let node = ReaderFragment", node.artifact)
            writeMetadata(node, &text)
            text.line("\(access)var fragmentPointer: FragmentPointer")
            text.space()
            text.short("\(access)init(key: any \(key))", "fragmentPointer = key.\(pointer)")
            text.space()
            text.document("For data that `@include` or `@skip` may leave the fragment out of.")
            text.short(
                "\(access)init(fragmentPointer: FragmentPointer)",
                "self.fragmentPointer = fragmentPointer")
            text.space()
            DataWriter(types: types).write(
                shapes.shape(of: fragment.selections), as: "Data", to: &text)
        }
        text.space()
        text.document("Data in which `\(node.name)` is spread.")
        text.line("\(access)protocol \(key) { var \(pointer): FragmentPointer { get } }")
        text.space()
        text.block("extension \(key)") { text in
            text.document("The fragment, which only its own code opens.")
            text.short("\(access)func asFragment() -> \(name)", "\(name)(key: self)")
        }
        guard node.metadata.plural else { return }
        text.space()
        text.block("extension Sequence where Element: \(key)") { text in
            text.document("The fragments of a list.")
            text.short("\(access)func asFragments() -> [\(name)]", "map { \(name)(key: $0) }")
        }
    }

    private func conformance(_ node: ReaderFragment) -> String {
        guard node.metadata.refetch != nil else { return "Relay.Fragment" }
        return node.metadata.connections.count == 1 ? "PaginationFragment" : "RefetchFragment"
    }

    private func writeMetadata(_ node: ReaderFragment, _ text: inout SwiftText) {
        guard let refetch = node.metadata.refetch else { return }
        let operation = types.names.definition(refetch.operation)
        text.line("\(access)static let metadata = RefetchMetadata(")
        text.indented { text in
            let path = "path: \(list(refetch.path))"
            let field = refetch.identifierField.map { "identifierField: \(SwiftText.literal($0))" }
            let items = [path, field, "operation: \(operation).self"].compactMap(\.self)
            let isPaged = node.metadata.connections.count == 1
            text.line(items.joined(separator: ", ") + (isPaged ? "," : ")"))
            if isPaged { writeConnection(node.metadata.connections[0], &text) }
        }
        text.line("\(access)typealias Operation = \(operation)")
    }

    private func writeConnection(_ connection: ConnectionMetadata, _ text: inout SwiftText) {
        var lines = ["path: \(list(connection.path))"]
        for (name, direction) in [
            ("backward", connection.backward), ("forward", connection.forward),
        ] {
            guard let direction else { continue }
            lines.append(
                "\(name): ConnectionVariableConfig(count: \(SwiftText.literal(direction.count)), "
                    + "cursor: \(SwiftText.literal(direction.cursor)))")
        }
        text.line("connection: ConnectionMetadata(")
        text.indented { text in
            for (place, line) in lines.enumerated() {
                text.line(line + (place + 1 < lines.count ? "," : "))"))
            }
        }
    }

    private func list(_ texts: [String]) -> String {
        "[\(texts.map { SwiftText.literal($0) }.joined(separator: ", "))]"
    }
}
