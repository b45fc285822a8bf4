import GraphQLLanguage

/// A directive on a field, with access to what its arguments name. The language has already checked that they
/// are strings where required; names that do not exist are reported here.
struct AppliedDirective {
    let directive: Directive
    let types: ServiceTypes
    let mistakes: MistakeCollector

    /// A string argument and its location; nil if it is absent or null.
    func string(_ argument: String) -> (text: String, location: Int)? {
        directive.argument(argument).flatMap(string)
    }

    /// A list of strings; a single string counts as a list of one.
    func strings(_ argument: String) -> [(text: String, location: Int)] {
        guard let value = directive.argument(argument) else { return [] }
        if case .list(let values) = value.kind {
            return values.compactMap(string)
        }
        return string(value).map { [$0] } ?? []
    }

    private func string(_ value: Value) -> (text: String, location: Int)? {
        guard case .string(let text, _) = value.kind else { return nil }
        return (text, value.location)
    }

    /// The stored type that an argument names.
    func storedType(_ argument: String) -> NamedType? {
        guard let (name, location) = string(argument) else { return nil }
        return storedType(named: name, at: location)
    }

    private func storedType(named name: String, at location: Int) -> NamedType? {
        guard let type = types.schema.type(named: name) else {
            let near = nearest(name, among: types.stored.map(\.name))
            report("There is no type \"\(name)\".\(near)", at: location)
            return nil
        }
        guard types.isStored(type.id) else {
            report(
                """
                Type "\(name)" is not stored. Write: type \(name) implements Node { id: ID! … }
                """, at: location)
            return nil
        }
        return type
    }

    /// The list or connection that an argument names as "Type.field".
    func listField(_ argument: String) -> ListField? {
        guard let (text, location) = string(argument) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            report("\"\(text)\" names no field. Write \"Type.field\".", at: location)
            return nil
        }
        guard let owner = storedType(named: String(parts[0]), at: location) else { return nil }
        return listField(String(parts[1]), of: owner, at: location)
    }

    /// The list or connection that an argument names among the fields of a type.
    func listField(_ argument: String, of owner: NamedType) -> ListField? {
        guard let (name, location) = string(argument) else { return nil }
        return listField(name, of: owner, at: location)
    }

    private func listField(
        _ name: String, of owner: NamedType, at location: Int
    ) -> ListField? {
        let lists = owner.fields.filter { types.kind(of: $0)?.node != nil }.map(\.name)
        guard let field = owner.field(name) else {
            let near = nearest(name, among: lists)
            report("Type \"\(owner.name)\" has no field \"\(name)\".\(near)", at: location)
            return nil
        }
        guard let kind = types.kind(of: field), let node = kind.node else {
            let choice = lists.isEmpty ? "none" : lists.joined(separator: ", ")
            report(
                """
                "\(owner.name).\(name)" is neither a list of records nor a connection. What there \
                is: \(choice).
                """, at: location)
            return nil
        }
        var edge: TypeID?
        if case .connection(let connection) = kind { edge = connection.edge }
        return ListField(owner: owner, name: name, node: node, edge: edge)
    }

    func report(_ problem: String, at location: Int? = nil) {
        mistakes.report(
            "@\(directive.name.value): \(problem)", at: location ?? directive.location)
    }
}

/// A list or connection field of a stored type.
struct ListField: Sendable {
    let owner: NamedType
    let name: String
    /// The type of the records in it.
    let node: TypeID
    /// Nil for a plain list.
    let edge: TypeID?
}

/// ` Did you mean "name"?`, or nothing if no option is similar.
func nearest(_ name: String, among options: [String]) -> String {
    didYouMean(suggestions(for: name, among: options))
}
