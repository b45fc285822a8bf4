#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

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

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.isSame(as: right.text)
    }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    /// The order of the bytes.
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension String {
    /// Whether both have the same bytes of UTF-8.
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
        // Only texts of Foundation have no bytes that stand together.
        return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Takes the bytes into a hash. Not as String does: canonically equivalent texts share its hash, and a stranger
    /// can make any number of those.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No byte of UTF-8, so that two texts behind one another are not another two.
        hasher.combine(UInt8.max)
    }
}

extension Hasher {
    /// Takes in a value and the case of an enumeration that has it, as a hash that the compiler makes does: without the
    /// case, null, 0 and an empty list have one hash, and a stranger makes any number of lists of them that share theirs.
    package mutating func combine(case number: UInt8, _ value: some Hashable) {
        combine(number)
        combine(value)
    }
}
