import GraphQLLanguage

/// Adds what the normalizer needs to identify records: `id` where there is one, the `node` of edges, `__typename` where
/// the type is abstract, and `__isTYPE: __typename` inside fragments on an abstract type, so that a response
/// states the abstract types of its objects, even if their own type is newer than the client.
struct GeneratedFields {
    private let schema: Schema
    private let idType: TypeID?
    /// An interface `Node` with an `id`.
    private let node: NamedType?

    init(_ schema: Schema) {
        self.schema = schema
        idType = schema.type(named: "ID")?.id
        let node = schema.type(named: "Node")
        self.node = node.flatMap { $0.kind == .interface && $0.field("id") != nil ? $0 : nil }
    }

    func add(to operation: inout TypedOperation) {
        operation.selections = selections(operation.selections)
    }

    func add(to fragment: inout TypedFragment) {
        fragment.selections = inFragment(
            selections(fragment.selections), on: fragment.type, at: fragment.definition.location)
    }

    private func selections(_ selections: [TypedSelection]) -> [TypedSelection] {
        selections.mapped { field in
            guard let inner = field.selections else { return }
            field.selections = ofRecord(
                inner, on: field.type, isElement: field.definition.type.listItem != nil,
                at: field.location)
        } fragment: { fragment in
            guard let condition = fragment.condition else { return }
            fragment.selections = inFragment(
                fragment.selections, on: condition, at: fragment.location)
        }
    }

    private func inFragment(
        _ selections: [TypedSelection], on type: NamedType, at location: Int
    ) -> [TypedSelection] {
        type.kind.isAbstract ? discriminator(type, location) + selections : selections
    }

    private func discriminator(_ type: NamedType, _ location: Int) -> [TypedSelection] {
        plain("__typename", alias: "__is\(type.name)", on: type, location)
    }

    private func plain(
        _ name: String, alias: String? = nil, on type: NamedType, _ location: Int
    ) -> [TypedSelection] {
        schema.plainField(name, alias: alias, on: type, at: location).map { [.field($0)] } ?? []
    }

    /// What every object selected through a field includes.
    /// - Parameter isElement: whether the field is a list of such objects.
    private func ofRecord(
        _ selections: [TypedSelection], on type: NamedType, isElement: Bool = false,
        at location: Int
    ) -> [TypedSelection] {
        var selections = selections
        if type.kind.isAbstract, !selections.selectsPlainly("__typename") {
            selections = plain("__typename", on: type, location) + selections
        }
        if hasID(type) {
            if !selections.selectsPlainly("id") { selections += plain("id", on: type, location) }
        } else if type.kind.isAbstract {
            selections += identification(of: type, at: location)
        } else if isElement {
            selections += node(of: selections, on: type, at: location)
        }
        return selections
    }

    /// `node { id }`. The normalizer calls edges by their nodes, so that they are the same records after another edge was
    /// inserted; where one selection had the node and another had not, a list would have two records for each edge.
    private func node(
        of selections: [TypedSelection], on edge: NamedType, at location: Int
    ) -> [TypedSelection] {
        let isTaken = selections.fields.contains {
            $0.responseName == "node" && ($0.name != "node" || !$0.arguments.isEmpty)
        }
        guard !isTaken, !selections.selectsPlainly("node"),
            var field = schema.plainField("node", alias: nil, on: edge, at: location),
            field.type.kind.isComposite, field.definition.type.listItem == nil,
            field.definition.arguments.isEmpty
        else { return [] }
        let inner = ofRecord([], on: field.type, at: location)
        if inner.isEmpty { return [] }
        field.selections = inner
        return [.field(field)]
    }

    private func hasID(_ type: NamedType) -> Bool {
        guard let idType, let field = type.field("id"), field.arguments.isEmpty else {
            return false
        }
        return field.namedType == idType && field.type.listItem == nil
    }

    /// `... on Node { id }`, and the same for types that have an id but are not a `Node`.
    private func identification(of type: NamedType, at location: Int) -> [TypedSelection] {
        var result: [TypedSelection] = []
        func add(on type: NamedType, _ selections: [TypedSelection]) {
            result.append(
                .inlineFragment(
                    TypedInlineFragment(
                        condition: type, type: type, selections: selections, location: location)))
        }
        if let node, schema.overlap(type.id, node.id) {
            add(on: node, discriminator(node, location) + plain("id", on: node, location))
        }
        for possible in schema.possibleTypes(of: type.id).map({ schema[$0] }) where hasID(possible)
        {
            if let node, schema.isSubType(possible.id, of: node.id) { continue }
            add(on: possible, plain("id", on: possible, location))
        }
        return result
    }
}
