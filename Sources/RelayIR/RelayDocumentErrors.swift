package import GraphQLLanguage

/// Why documents cannot be compiled.
package struct RelayDocumentErrors: Error, Sendable, CustomStringConvertible {
    package let errors: [GraphQLError]

    package init(_ errors: [GraphQLError]) { self.errors = errors }

    /// One error per line.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}
