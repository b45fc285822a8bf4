import GraphQLLanguage

/// Adds what the normalizer needs to identify records: `id` where there is one, `__typename` where the
/// type is abstract, and `__isTYPE: __typename` inside fragments on an abstract type, so that a response
/// states the abstract types of its objects, even if their own type is newer than the client.
struct GeneratedFields {
    private let schema: Schema
    private let idType: TypeID?
    /// An interface `Node` with an `id`.
    private let node: NamedType?

    static func added(
        to complete: CompleteOperation, schema: Schema
    ) throws(RelayDocumentErrors) -> CompleteOperation {
        let transform = GeneratedFields(schema)
        guard let root = schema.rootType(of: complete.operation.operation) else { return complete }
        let operation = complete.operation
        return CompleteOperation(
            operation: operation.with(
                selections: transform.selections(operation.selectionSet.selections, on: root)),
            fragments: complete.fragments.map { fragment in
                guard let type = schema.type(named: fragment.typeCondition.value) else {
                    return fragment
                }
                return fragment.with(
                    selections: transform.inFragment(
                        fragment.selectionSet.selections, on: type, at: fragment.location))
            })
    }

    private init(_ schema: Schema) {
        self.schema = schema
        idType = schema.type(named: "ID")?.id
        let node = schema.type(named: "Node")
        self.node = node.flatMap { $0.kind == .interface && $0.field("id") != nil ? $0 : nil }
    }

    /// Transforms a selection set on `type`. What the schema does not know is left as it is;
    /// validation will report it.
    private func selections(_ selections: [Selection], on type: NamedType) -> [Selection] {
        selections.map { selection in
            switch selection {
            case .field(let field):
                guard let set = field.selectionSet,
                    let definition = schema.field(field.name.value, on: type)
                else { return selection }
                let inner = schema[definition.namedType]
                return .field(
                    field.with(
                        selections: ofRecord(
                            self.selections(set.selections, on: inner), on: inner,
                            at: field.location)))
            case .inlineFragment(let fragment):
                guard let condition = fragment.typeCondition else {
                    return .inlineFragment(
                        fragment.with(
                            selections: self.selections(
                                fragment.selectionSet.selections, on: type)))
                }
                guard let inner = schema.type(named: condition.value) else { return selection }
                return .inlineFragment(
                    fragment.with(
                        selections: inFragment(
                            fragment.selectionSet.selections, on: inner, at: fragment.location)))
            case .fragmentSpread:
                return selection
            }
        }
    }

    private func inFragment(
        _ selections: [Selection], on type: NamedType, at location: Int
    ) -> [Selection] {
        let selections = self.selections(selections, on: type)
        guard type.kind.isAbstract else { return selections }
        return [discriminator(type, location)] + selections
    }

    private func discriminator(_ type: NamedType, _ location: Int) -> Selection {
        .field(.generated("__typename", alias: "__is\(type.name)", at: location))
    }

    /// What every object selected through a field includes.
    private func ofRecord(
        _ selections: [Selection], on type: NamedType, at location: Int
    ) -> [Selection] {
        var selections = selections
        func add(_ name: String) {
            if !selections.selectsPlainly(name) {
                selections.append(.field(.generated(name, at: location)))
            }
        }
        if type.kind.isAbstract, !selections.selectsPlainly("__typename") {
            selections.insert(.field(.generated("__typename", at: location)), at: 0)
        }
        if hasID(type) {
            add("id")
        } else if type.kind.isAbstract {
            selections += identification(of: type, at: location)
        }
        return selections
    }

    private func hasID(_ type: NamedType) -> Bool {
        guard let idType, let field = type.field("id"), field.arguments.isEmpty else {
            return false
        }
        return field.namedType == idType && field.type.listItem == nil
    }

    /// `... on Node { id }`, and the same for types that have an id but are not a `Node`.
    private func identification(of type: NamedType, at location: Int) -> [Selection] {
        var result: [Selection] = []
        func add(on type: NamedType, _ selections: [Selection]) {
            result.append(
                .inlineFragment(
                    InlineFragment(
                        typeCondition: Name(type.name, location: location), directives: [],
                        selectionSet: SelectionSet(selections: selections, location: location),
                        location: location)))
        }
        let id = Selection.field(.generated("id", at: location))
        if let node, schema.overlap(type.id, node.id) {
            add(on: node, [discriminator(node, location), id])
        }
        for possible in schema.possibleTypes(of: type.id).map({ schema[$0] }) where hasID(possible)
        {
            if let node, schema.isSubType(possible.id, of: node.id) { continue }
            add(on: possible, [id])
        }
        return result
    }
}
