extension Server.Configuration {
    /// What an operator should know of types without rules, where some clients have none but the rules' rights.
    /// - Parameter types: the stored types that no `@access` opens.
    func warning(closed types: [String]) -> String? {
        guard namesViewers, let example = types.first else { return nil }
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
