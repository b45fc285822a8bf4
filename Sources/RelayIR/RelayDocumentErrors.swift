package import GraphQLLanguage

/// Why documents cannot be compiled.
package struct RelayDocumentErrors: Error, Sendable, CustomStringConvertible {
    package let errors: [DocumentError]

    package init(_ errors: [DocumentError]) { self.errors = errors }

    /// One error per line.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}
