import SchemaService

extension Server.Configuration {
    /// What an operator should know of the schema's rules: that no client is subject to them, or that they leave types out.
    func warning(about schema: SchemaService) -> String? {
        guard namesViewers else {
            guard schema.access.areStated else { return nil }
            return """
                The schema has access rules (@access), but no client is subject to them: without viewers \
                (--token-for, --jwt-keys), whoever is let in may read and write everything.
                """
        }
        let types = schema.closedTypes
        guard let example = types.first else { return nil }
        let named = types.prefix(20).joined(separator: ", ")
        let others = types.count > 20 ? " and \(types.count - 20) more" : ""
        return """
            No @access opens \(named)\(others): records of \(types.count == 1 ? "this type" : "these types") \
            exist for clients with an unnamed token only. Write, for example, extend type \(example) \
            @access(read: { viewer: true }), or extend schema @access(default: OPEN).
            """
    }

    /// Whether clients may be viewers, or nobody, so that rules decide what they see and do.
    private var namesViewers: Bool {
        !viewerTokens.isEmpty || webTokens != nil || authenticator != nil
    }
}
