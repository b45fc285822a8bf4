extension TypeSystemDocument {
    /// What can be checked on the definitions alone: graphql-js' specifiedSDLRules.
    func validate(_ issues: inout SchemaIssues) {
        for location in executables {
            issues.report("Operations and fragments cannot be part of a schema.", at: location)
        }
        validateUniqueness(&issues)
        validateKnownTypes(&issues)
        validateAppliedDirectives(&issues)
    }
}
