/// Appends the primitives that events consist of: bytes, LEB128 numbers, counted texts.
package struct ByteWriter: Sendable {
    package var bytes: [UInt8] = []

    package init() {}

    package mutating func write(byte: UInt8) { bytes.append(byte) }

    package mutating func write(number: UInt64) {
        var number = number
        while number >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    /// A signed number, zigzag-coded so that small ones are short.
    package mutating func write(signed number: Int64) {
        write(number: UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    package mutating func write(double: Double) {
        withUnsafeBytes(of: double.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// The count of the bytes, then the bytes.
    package mutating func write(counted text: UnsafeBufferPointer<UInt8>) {
        write(number: UInt64(text.count))
        bytes.append(contentsOf: text)
    }

    package mutating func write(counted text: String) {
        var text = text
        text.withUTF8 { write(counted: $0) }
    }

    package mutating func write(counted text: [UInt8]) {
        text.withUnsafeBufferPointer { write(counted: $0) }
    }
}

/// Reads what ``ByteWriter`` wrote. Every read is checked: the bytes may come from a damaged disk.
///
/// It points into memory that it does not own and must not outlive it.
package struct ByteReader {
    private let base: UnsafeRawBufferPointer
    private(set) var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer) { base = bytes }

    package var isAtEnd: Bool { offset == base.count }

    package mutating func readByte() throws(MalformedEvent) -> UInt8 {
        guard offset < base.count else { throw malformed("a byte") }
        defer { offset += 1 }
        return base[offset]
    }

    package mutating func readNumber() throws(MalformedEvent) -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while offset < base.count, shift < 64 {
            let byte = base[offset]
            offset += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        throw malformed("a number")
    }

    package mutating func readSigned() throws(MalformedEvent) -> Int64 {
        let number = try readNumber()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// A count of things that each take at least one of the remaining bytes.
    package mutating func readCount() throws(MalformedEvent) -> Int {
        let number = try readNumber()
        guard number <= UInt64(base.count - offset) else { throw malformed("a count") }
        return Int(number)
    }

    package mutating func readDouble() throws(MalformedEvent) -> Double {
        guard base.count - offset >= 8 else { throw malformed("a double") }
        defer { offset += 8 }
        return Double(
            bitPattern: UInt64(
                littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    /// Counted bytes, in place.
    package mutating func readText() throws(MalformedEvent) -> UnsafeBufferPointer<UInt8> {
        let count = try readCount()
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: base[offset..<offset + count])
            .bindMemory(to: UInt8.self)
    }

    package mutating func readString() throws(MalformedEvent) -> String {
        String(decoding: try readText(), as: UTF8.self)
    }

    package mutating func readBytes() throws(MalformedEvent) -> [UInt8] { Array(try readText()) }

    func malformed(_ expected: String) -> MalformedEvent {
        MalformedEvent(message: "expected \(expected) at byte \(offset) of \(base.count)")
    }
}

/// Bytes that are not an event this build understands. The frame's checksum was verified before, so
/// this means another format, or a bug.
package struct MalformedEvent: Error, Hashable, CustomStringConvertible {
    package var message: String

    package init(message: String) { self.message = message }

    package var description: String { "Malformed event: \(message)." }
}
