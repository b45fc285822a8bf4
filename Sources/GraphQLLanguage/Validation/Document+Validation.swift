extension Document {
    /// Validates an executable document (GraphQL §5): all rules, in one pass over it.
    ///
    /// - Returns: the errors with the texts and locations of graphql-js; none if the document can
    ///   be executed.
    package func validate(
        against schema: Schema, limits: ValidationLimits = ValidationLimits()
    ) -> [DocumentError] {
        let context = ValidationContext(document: self, schema: schema, limits: limits)
        validate(context)
        return context.issues.map { issue in
            DocumentError(
                issue.message, locations: source.locations(at: issue.locations), code: issue.code)
        }
    }

    private func validate(_ context: ValidationContext) {
        // On the document as a whole.
        ExecutableDefinitionsRule.check(context)
        UniqueOperationNamesRule.check(context)
        LoneAnonymousOperationRule.check(context)
        UniqueFragmentNamesRule.check(context)
        // On each node, in the order written.
        DocumentVisitor(context).visitDocument()
        // On what the pass has collected.
        var unused = NoUnusedFragmentsRule(context)
        for operation in context.operations where !context.isAborted {
            let reached = context.fragmentsReached(from: operation)
            VariableRules.check(operation, reached, context)
            unused.note(reached)
        }
        if context.dialect == nil { unused.check() }
        NoFragmentCyclesRule.check(context)
        // A client's fragments are written out with their arguments' values before fields are merged.
        if context.dialect == nil { OverlappingFieldsCanBeMergedRule.check(context) }
    }

    /// Validates documents of a client, all at once: those rules that hold before Relay's directives are worked in.
    ///
    /// Fragments may be unused, and whether fields can be merged is not known yet.
    package func issues(
        against schema: Schema, dialect: ClientDialect, limits: ValidationLimits
    ) -> [DocumentIssue] {
        let context = ValidationContext(
            document: self, schema: schema, limits: limits, dialect: dialect)
        validate(context)
        return context.issues
    }

    /// What ``validate(against:limits:)`` finds, by location: for a document made of several.
    package func issues(
        against schema: Schema, limits: ValidationLimits
    ) -> [DocumentIssue] {
        let context = ValidationContext(document: self, schema: schema, limits: limits)
        validate(context)
        return context.issues
    }
}
