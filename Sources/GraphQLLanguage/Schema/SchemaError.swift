/// Everything that is wrong with a schema.
package struct SchemaErrors: Error, Sendable, CustomStringConvertible {
    /// Ordered by location.
    package let errors: [SchemaError]

    /// One error per line.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// One error in a schema, and where in which of its documents.
package struct SchemaError: Hashable, Sendable, CustomStringConvertible {
    package let message: String
    /// In the order of graphql-js. Built-in and predefined definitions have none.
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

/// A location in one of several documents.
package struct SourcePlace: Hashable, Sendable {
    package let source: Source
    package let location: SourceLocation

    package init(source: Source, location: SourceLocation) {
        self.source = source
        self.location = location
    }

    package static func == (left: SourcePlace, right: SourcePlace) -> Bool {
        left.source === right.source && left.location == right.location
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(location) }

    /// Orders places in documents that are read together: start of the document, line, column.
    package var order: [Int] { [source.base, location.line, location.column] }
}
