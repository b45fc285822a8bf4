/// A text that is compared by its bytes of UTF-8, for keys of tables.
///
/// Swift's `==` takes texts for equal that Unicode calls canonically equivalent: "é" as one scalar and as two. To
/// JSON and GraphQL they are two strings, so to a store and a server they have to be.
package struct ExactText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    @inlinable
    package init(_ text: String) { self.text = text }

    @inlinable
    package init(stringLiteral value: String) { text = value }

    @inlinable
    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.isSame(as: right.text)
    }

    /// Texts of the same bytes have one hash; canonically equivalent ones share it.
    @inlinable
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The order of the bytes.
    @inlinable
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension String {
    /// Whether both have the same bytes of UTF-8.
    @inlinable
    package func isSame(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let areSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in bytes.elementsEqual(others) }
        }
        // Only texts of Foundation have no bytes that stand together.
        return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
