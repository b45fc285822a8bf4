/// Everything that is wrong with a schema.
package struct SchemaErrors: Error, Sendable, CustomStringConvertible {
    /// In the order of their places.
    package let errors: [SchemaError]

    /// One error a line.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with a schema, and where in which of its documents.
package struct SchemaError: Hashable, Sendable, CustomStringConvertible {
    package let message: String
    /// As graphql-js orders them. Built-in and predefined definitions have none.
    package let places: [SourcePlace]

    package init(_ message: String, at places: [SourcePlace] = []) {
        self.message = message
        self.places = places
    }

    /// The message, then its places: `Unknown type "Foo". (3:14)`.
    package var description: String {
        DocumentError(message, locations: places.map(\.location)).description
    }
}

/// A place in one of several documents.
package struct SourcePlace: Hashable, Sendable {
    package let source: Source
    package let location: SourceLocation

    package static func == (left: SourcePlace, right: SourcePlace) -> Bool {
        left.source === right.source && left.location == right.location
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(location) }

    /// Compares places of documents that are read together: where the document begins, line, column.
    package var order: [Int] { [source.base, location.line, location.column] }
}
