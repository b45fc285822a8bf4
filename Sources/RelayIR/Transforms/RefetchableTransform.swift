import GraphQLLanguage
import RelayArtifacts

/// Generates the query for `@refetchable(queryName:)`: the same fragment, on the record that it was
/// read from, with the fragment's arguments as variables.
struct RefetchableTransform {
    let documents: DocumentSet
    let fragments: [String: TypedFragment]

    /// nil without `@refetchable`, or where it is wrong.
    func description(of fragment: TypedFragment) -> RefetchDescription? {
        guard let directive = fragment.definition.directives.named("refetchable"),
            let name = directive.argument("queryName")?.string
        else { return nil }
        return documents.schema.refetchPath(of: fragment.type).map {
            RefetchDescription(
                operation: name, path: $0, identifierField: $0 == ["node"] ? "id" : nil)
        }
    }

    /// nil without `@refetchable`.
    func query(of fragment: TypedFragment) -> OperationDefinition? {
        guard let description = description(of: fragment),
            let directive = fragment.definition.directives.named("refetchable")
        else { return nil }
        let location = directive.location
        let declared = documents.variables(of: fragment.definition)
        let spread = Selection.fragmentSpread(
            FragmentSpread(
                name: Name(fragment.name, location: location),
                directives: declared.isEmpty
                    ? []
                    : [
                        Directive(
                            name: Name(RelayDirectives.arguments, location: location),
                            arguments: declared.map { argument($0.name.value, location) },
                            location: location)
                    ], location: location))
        var variables = declared + used(in: fragment, at: location)
        var selections = [spread]
        if let field = description.path.first {
            let isByID = description.identifierField != nil
            if isByID { variables.append(id(at: location)) }
            selections = [
                .field(
                    Field(
                        alias: nil, name: Name(field, location: location),
                        arguments: isByID ? [argument("id", location)] : [], directives: [],
                        selectionSet: SelectionSet(selections: [spread], location: location)))
            ]
        }
        return OperationDefinition(
            description: nil, operation: .query,
            name: Name(description.operation, location: location), variables: variables,
            directives: [],
            selectionSet: SelectionSet(selections: selections, location: location),
            location: location)
    }

    /// The fragment's variables that have a default and need no value.
    ///
    /// Where the fragment was spread without a value for one, its query must do without, too: a default in the query would
    /// fetch something else.
    func optionalVariables(of fragment: TypedFragment) -> Set<String> {
        var known: [String: [String: WrappedType]] = [:]
        let types = FragmentVariables.declared(in: fragment, documents, fragments, &known)
        let names = documents.variables(of: fragment.definition)
            .filter { $0.defaultValue != nil && types[$0.name.value]?.isNonNull != true }
            .map(\.name.value)
        return Set(names)
    }

    /// The variables that the fragment, and those that it spreads, leave to the operation.
    private func used(in fragment: TypedFragment, at location: Int) -> [VariableDefinition] {
        let usage = FragmentVariables.free(in: fragment, documents, fragments)
        return usage.names.compactMap { name in
            guard let type = usage.types[name] else { return nil }
            return VariableDefinition(
                name: Name(name, location: location),
                type: documents.schema.reference(type, at: location), defaultValue: nil,
                location: location)
        }
    }

    private func argument(_ name: String, _ location: Int) -> GraphQLLanguage.Argument {
        Argument(
            name: Name(name, location: location),
            value: Value(.variable(name), location: location))
    }

    private func id(at location: Int) -> VariableDefinition {
        VariableDefinition(
            name: Name("id", location: location),
            type: .nonNull(.named(Name("ID", location: location))), defaultValue: nil,
            location: location)
    }
}

extension Schema {
    /// Where a query finds the record of a fragment again: the response names that lead to it; nil if it cannot.
    func refetchPath(of type: NamedType) -> [String]? {
        if type.id == queryType { return [] }
        let query = queryType.map { self[$0] }
        if type.name == "Viewer", query?.field("viewer") != nil { return ["viewer"] }
        guard let node = self.type(named: "Node"), query?.field("node") != nil else { return nil }
        if isSubType(type.id, of: node.id) { return ["node"] }
        // No interface of a union can say it, and that of an interface need not.
        let possible = type.kind.isAbstract ? possibleTypes(of: type.id) : []
        return !possible.isEmpty && possible.allSatisfy { isSubType($0, of: node.id) }
            ? ["node"] : nil
    }

    /// A type as a document refers to it.
    fileprivate func reference(_ type: WrappedType, at location: Int) -> TypeReference {
        switch type {
        case .named(let id): .named(Name(self[id].name, location: location))
        case .list(let inner): .list(reference(inner, at: location), location: location)
        case .nonNull(let inner): .nonNull(reference(inner, at: location))
        }
    }
}
