extension Document {
    /// Validates an executable document (GraphQL §5): all rules, in one pass over it.
    ///
    /// - Returns: the errors with the texts and locations of graphql-js; none if the document can
    ///   be executed.
    package func validate(
        against schema: Schema, limits: ValidationLimits = ValidationLimits()
    ) -> [DocumentError] {
        let context = ValidationContext(document: self, schema: schema, limits: limits)
        check(context)
        OverlappingFieldsCanBeMergedRule.check(context)
        return context.issues.map { issue in
            DocumentError(
                issue.message, locations: source.locations(at: issue.locations), code: issue.code)
        }
    }

    /// All rules but that on merging fields.
    private func check(_ context: ValidationContext) {
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
    }

    /// Validates documents of a client, all at once: those rules that hold before Relay's directives are worked in.
    ///
    /// Fragments may be unused, and whether fields can be merged is not known yet.
    package func issues(
        against schema: Schema, dialect: ClientDialect, limits: ValidationLimits
    ) -> [DocumentIssue] {
        let context = ValidationContext(
            document: self, schema: schema, limits: limits, dialect: dialect)
        check(context)
        return context.issues
    }

    /// What ``validate(against:limits:)`` finds, by location, except for fields that cannot be merged: for a document
    /// made of several.
    package func issues(
        against schema: Schema, limits: ValidationLimits
    ) -> [DocumentIssue] {
        let context = ValidationContext(document: self, schema: schema, limits: limits)
        check(context)
        return context.issues
    }

    /// The fields that cannot be merged (GraphQL §5.3.2), in a document whose selection sets have different locations.
    package func mergeIssues(
        against schema: Schema, limits: ValidationLimits
    ) -> [DocumentIssue] {
        let context = ValidationContext(document: self, schema: schema, limits: limits)
        OverlappingFieldsCanBeMergedRule.check(context)
        return context.issues
    }
}
