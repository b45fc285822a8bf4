extension Document {
    /// Validates an executable document (GraphQL §5): all rules, in one pass over it.
    ///
    /// - Returns: the errors with the texts and locations of graphql-js; none if the document can
    ///   be executed.
    package func validate(
        against schema: Schema, limits: ValidationLimits = ValidationLimits()
    ) -> [DocumentError] {
        let context = ValidationContext(document: self, schema: schema, limits: limits)
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
        unused.check()
        NoFragmentCyclesRule.check(context)
        OverlappingFieldsCanBeMergedRule.check(context)
        return context.errors
    }
}
