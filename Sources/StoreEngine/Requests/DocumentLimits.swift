package import GraphQLExecution
package import GraphQLLanguage

/// What a request's document may contain. Anything over a limit is refused with `LIMIT_EXCEEDED` before it is
/// examined further.
package struct DocumentLimits: Sendable {
    /// The text's length in UTF-8.
    package var bytes = 256 << 10
    package var tokens = 20_000
    /// Nested selection sets, including those of spread fragments; also nested lists and objects in values.
    package var depth = 100
    package var aliases = 500
    package var directives = 500
    /// Root fields of an operation, including those of spread fragments.
    package var rootFields = 500
    /// Selections of an operation; those of its fragments count once for each place where they expand
    /// differently. They make up the plan, which is kept in memory.
    package var selections = 20_000
    /// Fields in the result, as estimated by ``ComplexityEstimate``.
    package var complexity = 1_000_000
    /// Bytes in the result. A million fields of usual length take half of this. Without this limit, long
    /// texts, or one text selected many times, could exhaust the memory.
    package var resultBytes = 64 << 20
    /// List elements visited for one result. A filter can pass over any number of them, and a nested list
    /// does so again for each item, without writing a byte.
    package var visits = 10_000_000
    /// The assumed length of a list when neither `first` nor `last` gives one.
    package var assumedListSize = 50

    package init() {}

    package var parsing: ParseLimits { ParseLimits(maximumTokens: tokens, maximumDepth: depth) }

    /// Nested lists of types, fields and so on in an introspection query, whose sizes would multiply. The
    /// same limit as in graphql-js's MaxIntrospectionDepthRule.
    static let introspectionLists = 2

    /// Parses and validates a document, within the limits.
    package func document(
        _ text: String, validFor schema: Schema
    ) throws(ExecutionErrors) -> Document {
        let document: Document
        do throws(DocumentError) {
            document = try Document(parsing: text, limits: parsing)
        } catch {
            throw ExecutionErrors(errors: [ExecutionError(error)])
        }
        do throws(ExecutionError) {
            try check(document)
        } catch {
            throw ExecutionErrors(errors: [error])
        }
        let mistakes = document.validate(against: schema)
        guard mistakes.isEmpty else {
            throw ExecutionErrors(errors: mistakes.map(ExecutionError.init))
        }
        return document
    }

    /// Checks what can be checked before parsing.
    func check(_ text: String) throws(ExecutionError) {
        guard text.utf8.count > bytes else { return }
        throw .limitExceeded("The document has more than \(bytes) bytes.")
    }

    /// Checks what can be checked without a schema, in time linear in the document.
    func check(_ document: Document) throws(ExecutionError) {
        var check = DocumentShapeCheck(document, self)
        try check.run()
    }
}

extension ExecutionError {
    /// An error that means "too much", not "wrong".
    package static func limitExceeded(
        _ message: String, at locations: [SourceLocation] = []
    ) -> ExecutionError {
        ExecutionError(message, code: .limitExceeded, locations: locations)
    }
}
