/// Field selection merging (GraphQL §5.3.2): fields with the same response name must request the
/// same thing.
///
/// Two algorithms share the work. `FieldMergeCheck` finds out whether there is any conflict, in
/// time that grows with the document, not its square. Only then `FieldConflictSearch` compares
/// pair by pair, to report it as graphql-js does. Both stop at the limit.
enum OverlappingFieldsCanBeMergedRule {
    static func check(_ context: ValidationContext) {
        if context.isAborted { return }
        var check = FieldMergeCheck(context)
        switch check.run() {
        case .mergeable: return
        case .tooComplex:
            context.report(
                "Fields cannot be compared in \(context.limits.maximumFieldComparisons) steps. "
                    + "Validation aborted.", at: [], code: DocumentError.limitExceeded)
        case .conflict(let conflict):
            var search = FieldConflictSearch(context)
            let conflicts = search.run()
            // The search may have reached its limit before finding the known conflict.
            for conflict in conflicts.isEmpty ? [conflict] : conflicts {
                context.report(conflict.message, at: conflict.locations)
            }
        }
    }
}
