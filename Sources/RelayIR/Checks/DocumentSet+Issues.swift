import GraphQLLanguage

extension DocumentSet {
    /// Everything that is wrong with the documents before they are compiled: what GraphQL forbids, then what Relay
    /// does. Each definition is checked once, however many operations spread it.
    func issues(_ documents: [Document]) -> [DocumentIssue] {
        if let tooDeep = DepthCheck.issue(self) { return [tooDeep] }
        let all = Document(source: Source(""), definitions: documents.flatMap(\.definitions))
        let limits = ValidationLimits(maximumErrors: 1_000, maximumFieldComparisons: .max)
        return all.issues(against: schema, dialect: dialect, limits: limits) + declarationIssues
            + RelayRules.issues(self)
    }
}

extension Schema {
    /// A server's schema with Relay's directives and the extensions of a client; or what this has made before.
    static func forClients(
        _ schema: Schema, _ client: [Source]
    ) throws(RelayDocumentErrors) -> Schema {
        if client.isEmpty, RelayDirectives.names.allSatisfy({ schema.directive(named: $0) != nil })
        {
            return schema
        }
        do throws(SchemaErrors) {
            return try schema.extended(by: client, predefined: [RelayDirectives.definitions])
        } catch {
            throw RelayDocumentErrors(error)
        }
    }
}
