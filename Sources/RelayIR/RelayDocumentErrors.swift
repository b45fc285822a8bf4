package import GraphQLLanguage

/// Everything that is wrong with documents.
package struct RelayDocumentErrors: Error, Sendable, CustomStringConvertible {
    /// What GraphQL forbids, then what Relay does.
    package let errors: [RelayDocumentError]

    package init(_ errors: [RelayDocumentError]) { self.errors = errors }

    /// - Parameter sources: the documents that the locations are in.
    init(_ issues: [DocumentIssue], in sources: SourceMap) {
        errors = issues.map { issue in
            RelayDocumentError(issue.message, at: issue.locations.compactMap(sources.place))
        }
    }

    init(_ errors: SchemaErrors) {
        self.errors = errors.errors.map { RelayDocumentError($0.message, at: $0.places) }
    }

    /// One error per line.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// One error in a document, and where in which.
///
/// `SourceExcerpt.excerpts(of: error.places)` shows the lines with carets.
package struct RelayDocumentError: Hashable, Sendable, CustomStringConvertible {
    package let message: String
    /// The first is the one to show first.
    package let places: [SourcePlace]

    package init(_ message: String, at places: [SourcePlace] = []) {
        self.message = message
        self.places = places
    }

    /// The message, then its locations: `Unknown type "Foo". (3:14)`.
    package var description: String {
        DocumentError(message, locations: places.map(\.location)).description
    }
}
