#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A text that is compared by its UTF-8 bytes, for keys of tables.
///
/// Swift's `==` treats texts as equal that Unicode calls canonically equivalent: "é" as one scalar and as two. To
/// JSON and GraphQL they are two strings, so they must be to a store and a server.
package struct ExactText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    @inlinable
    package init(_ text: String) { self.text = text }

    @inlinable
    package init(stringLiteral value: String) { text = value }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.isSame(as: right.text)
    }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    /// Ordered by bytes.
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension String {
    /// Whether both have the same UTF-8 bytes.
    package func isSame(as other: String) -> Bool {
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        if count == 0 { return true }
        let areSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let bytes = bytes.baseAddress, let others = others.baseAddress else {
                    return false
                }
                return bytes == others || memcmp(bytes, others, count) == 0
            }
        }
        // Only Foundation's texts are not contiguous.
        return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Feeds the bytes into a hash. Unlike String's hash, in which canonically equivalent texts collide: an
    /// attacker can make any number of those.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Not a byte of UTF-8, so that two texts in a row do not hash like two others.
        hasher.combine(UInt8.max)
    }
}

extension Hasher {
    /// Feeds a value and the case of its enumeration into a hash, as a compiler-generated hash does: without the case,
    /// null, 0 and an empty list would hash the same, and an attacker could make any number of colliding lists of them.
    package mutating func combine(case number: UInt8, _ value: some Hashable) {
        combine(number)
        combine(value)
    }
}
