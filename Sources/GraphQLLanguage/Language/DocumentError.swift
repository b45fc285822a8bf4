/// What is wrong with a document or a schema, and where: the `message` and `locations` of an
/// error in a GraphQL response (GraphQL §7.1.2).
///
/// Messages are those of graphql-js, to the letter.
package struct DocumentError: Error, Hashable, Sendable {
    package let message: String
    package let locations: [SourceLocation]
    /// For `extensions.code`, if set.
    package let code: String?

    package init(_ message: String, locations: [SourceLocation] = [], code: String? = nil) {
        self.message = message
        self.locations = locations
        self.code = code
    }

    /// The code of every error that means "too much", not "wrong".
    package static let limitExceeded = "LIMIT_EXCEEDED"
}

extension DocumentError: CustomStringConvertible {
    /// The message, then its places: `Unknown type "Foo". (3:14)`.
    package var description: String {
        locations.isEmpty
            ? message
            : message + " (" + locations.map { "\($0.line):\($0.column)" }.joined(separator: ", ")
                + ")"
    }
}
