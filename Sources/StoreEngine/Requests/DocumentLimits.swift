package import GraphQLExecution
package import GraphQLLanguage

/// What the document of a request may contain. Whatever exceeds a limit is refused with
/// `LIMIT_EXCEEDED` before it is looked at any further.
package struct DocumentLimits: Sendable {
    /// The text's length in UTF-8.
    package var bytes = 256 << 10
    package var tokens = 20_000
    /// Selection sets inside each other, those of spread fragments included; also lists and objects of
    /// values.
    package var depth = 100
    package var aliases = 500
    package var directives = 500
    /// Fields of an operation's root, those of spread fragments included.
    package var rootFields = 500
    /// Selections of an operation, those of its fragments in each place where they come to something else: what its
    /// plan is made from, which is kept in memory.
    package var selections = 20_000
    /// Fields in the result, by the estimate of ``ComplexityEstimate``.
    package var complexity = 1_000_000
    /// Bytes in the result. A million fields of usual length have half as many. Long texts, or the same one selected again
    /// and again, could fill the memory otherwise.
    package var resultBytes = 64 << 20
    /// Elements of lists that are looked at for one result. A filter passes over any number of them, and each list
    /// inside another does so again, without a byte being written.
    package var visits = 10_000_000
    /// How long a list is taken to be when neither `first` nor `last` says so.
    package var assumedListSize = 50

    package init() {}

    var parsing: ParseLimits { ParseLimits(maximumTokens: tokens, maximumDepth: depth) }

    /// Lists of types, fields and so on inside each other in an introspection, which would multiply; the
    /// same limit as that of graphql-js's MaxIntrospectionDepthRule.
    static let introspectionLists = 2

    /// Checks what can be told before parsing.
    func check(_ text: String) throws(ExecutionError) {
        guard text.utf8.count > bytes else { return }
        throw .limitExceeded("The document has more than \(bytes) bytes.")
    }

    /// Checks what can be told without a schema, in time linear in the document.
    func check(_ document: Document) throws(ExecutionError) {
        var check = DocumentShapeCheck(document, self)
        try check.run()
    }
}

extension ExecutionError {
    /// An error that says "too much", not "wrong".
    package static func limitExceeded(
        _ message: String, at locations: [SourceLocation] = []
    ) -> ExecutionError {
        ExecutionError(message, code: .limitExceeded, locations: locations)
    }
}
