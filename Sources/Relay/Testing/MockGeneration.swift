import RelayArtifacts
import RelayJSON

/// One response being generated; see ``MockPayloadGenerator``.
final class MockGeneration {
    private let resolvers: [String: MockPayloadGenerator.Resolver]
    private let variables: VariableData
    private var ids = 0

    init(_ resolvers: [String: MockPayloadGenerator.Resolver], variables: VariableData) {
        self.resolvers = resolvers
        self.variables = variables
    }

    /// What is selected of an object; `__isTYPE` is a leaf without a field.
    private typealias Selected = MergedFields<NormalizationScalarField?, NormalizationLinkedField>

    /// - Parameters:
    ///   - given: what resolvers returned for the object.
    ///   - path: response names and list indexes from the root.
    func object(
        type: String, _ selections: [[NormalizationSelection]], given: VariableData,
        at path: [String]
    ) -> JSONObject {
        var result = JSONObject()
        for (name, selected) in fields(of: type, selections) {
            let value: JSONValue =
                switch selected {
                case .leaf(let field?): leaf(field, of: type, given, path + [name])
                case .leaf(nil): .string(type)
                case .links(let fields): link(fields, of: type, given, path + [name])
                }
            result[name] = value
        }
        return result
    }

    // MARK: What applies to an object of a type

    private func fields(
        of type: String, _ selections: [[NormalizationSelection]]
    ) -> [(name: String, field: Selected.Field)] {
        var selected = Selected()
        func walk(_ selections: [NormalizationSelection]) {
            for selection in selections {
                switch selection {
                case .scalarField(let field): selected.add(field.responseName, leaf: field)
                case .linkedField(let field): selected.add(field.responseName, link: field)
                case .inlineFragment(let fragment):
                    guard fragment.counts(for: type) else { continue }
                    if let key = fragment.abstractKey { selected.add(key, leaf: nil) }
                    walk(fragment.selections)
                case .condition(let condition):
                    if condition.holds(under: variables) { walk(condition.selections) }
                case .defer(let part): walk(part.selections)
                case .stream(let part): walk(part.selections)
                case .handle, .typeDiscriminator, .clientExtension: break
                }
            }
        }
        selections.forEach(walk)
        return selected.all
    }

    // MARK: Leaves

    private func leaf(
        _ field: NormalizationScalarField, of parent: String, _ given: VariableData,
        _ path: [String]
    ) -> JSONValue {
        if let value = given[field.responseName] ?? given[field.name] { return value.json }
        if field.name == "__typename" { return .string(parent) }
        let context = context(
            field.typeInfo?.type, parent, field.name, field.alias, path, field.args)
        if let value = resolved(context) { return value.json }
        let one: JSONValue =
            if field.name == "id" {
                .string("<\(parent)-mock-id-\(makeID())>")
            } else {
                madeUp(field)
            }
        return field.typeInfo?.plural == true ? [one] : one
    }

    private func madeUp(_ field: NormalizationScalarField) -> JSONValue {
        guard let info = field.typeInfo else { return text(field) }
        if let first = info.enumValues.first { return .string(first) }
        switch info.type {
        case "Boolean": return false
        case "Int": return 42
        case "Float": return 4.2
        default: return text(field)
        }
    }

    private func text(_ field: NormalizationScalarField) -> JSONValue {
        .string("<mock-value-for-field-\"\(field.responseName)\">")
    }

    // MARK: Objects

    private func link(
        _ fields: [NormalizationLinkedField], of parent: String, _ given: VariableData,
        _ path: [String]
    ) -> JSONValue {
        let field = fields[0]
        let selections = fields.map(\.selections)
        let said =
            given[field.responseName] ?? given[field.name]
            ?? resolver(at: path)?(
                context(field.concreteType, parent, field.name, field.alias, path, field.args))
        func one(_ said: VariableValue?, _ path: [String]) -> JSONValue {
            if said == .null { return .null }
            var given = VariableData()
            if case .object(let data)? = said { given = data }
            let type =
                given["__typename"]?.stringValue ?? field.concreteType
                ?? Self.possibleType(selections) ?? "__MockObject"
            let context = context(type, parent, field.name, field.alias, path, field.args)
            if let resolver = resolvers[type], let more = resolver(context) {
                guard case .object(var all) = more else { return more.json }
                all.merge(given)
                given = all
            }
            return .object(object(type: type, selections, given: given, at: path))
        }
        guard field.plural else { return one(said, path) }
        switch said {
        case .array(let elements)?:
            return .array(elements.enumerated().map { one($1, path + ["\($0)"]) })
        case .null?: return .null
        default: return [one(said, path + ["0"])]
        }
    }

    /// A type for objects of an abstract type: the first that the selections distinguish.
    private static func possibleType(_ selections: [[NormalizationSelection]]) -> String? {
        for case .inlineFragment(let fragment) in selections.joined() {
            return fragment.abstractKey == nil ? fragment.type : fragment.possibleTypes.first
        }
        return nil
    }

    // MARK: Resolvers

    private func resolver(at path: [String]) -> MockPayloadGenerator.Resolver? {
        resolvers[path.filter { Int($0) == nil }.joined(separator: ".")]
    }

    private func resolved(_ context: MockFieldContext) -> VariableValue? {
        if let value = resolver(at: context.path)?(context) { return value }
        return context.type.flatMap { resolvers[$0]?(context) }
    }

    private func context(
        _ type: String?, _ parent: String, _ name: String, _ alias: String?, _ path: [String],
        _ args: [any Argument]
    ) -> MockFieldContext {
        MockFieldContext(
            type: type, parentType: parent, name: name, alias: alias, path: path,
            arguments: args.values(from: variables), makeID: { [self] in makeID() })
    }

    private func makeID() -> Int {
        ids += 1
        return ids
    }
}
