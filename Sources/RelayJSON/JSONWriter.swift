/// Appends JSON to a buffer of bytes.
///
/// Scalars are written by `write`; structure is the caller's, byte by byte, because the hot callers
/// have it ready-made (`"name":` is one copy):
///
///     writer.raw("{\"id\":")
///     writer.write("VG9kbzox")
///     writer.raw("}")
package struct JSONWriter {
    package var bytes: [UInt8]

    package init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Copies bytes that are JSON already.
    @inlinable
    package mutating func raw(_ json: [UInt8]) { bytes.append(contentsOf: json) }

    @inlinable
    package mutating func raw(_ json: UnsafeRawBufferPointer) { bytes.append(contentsOf: json) }

    @inlinable
    package mutating func raw(_ json: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    /// One byte of structure.
    @inlinable
    package mutating func raw(_ byte: UInt8) { bytes.append(byte) }

    package mutating func writeNull() { raw("null") }

    package mutating func write(_ value: Bool) { value ? raw("true") : raw("false") }

    package mutating func write(_ value: Int64) {
        if 0..<10 ~= value {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
            return
        }
        var magnitude = value.magnitude
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var first = digits.count
            repeat {
                let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remainder)
                magnitude = quotient
            } while magnitude > 0
            if value < 0 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
        }
    }

    /// The shortest text that reads back as the same number; JSON has no infinity, so that is null.
    package mutating func write(_ value: Double) {
        guard value.isFinite else { return writeNull() }
        var text = value.description
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    package mutating func write(_ value: String) {
        var value = value
        value.withUTF8 { write(utf8: $0) }
    }

    /// A string, from its UTF-8 bytes: quotes around it, and escaped what RFC 8259 §7 requires.
    package mutating func write(utf8 content: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var plainFrom = 0
        for index in content.indices {
            let byte = content[index]
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: content[plainFrom..<index]))
            plainFrom = index + 1
            writeEscape(byte)
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: content[plainFrom...]))
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func writeEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x08: raw("\\b")
        case 0x09: raw("\\t")
        case 0x0A: raw("\\n")
        case 0x0C: raw("\\f")
        case 0x0D: raw("\\r")
        default:
            raw("\\u00")
            let digits: StaticString = "0123456789abcdef"
            bytes.append(digits.utf8Start[Int(byte >> 4)])
            bytes.append(digits.utf8Start[Int(byte & 15)])
        }
    }

    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: writeNull()
        case .bool(let value): write(value)
        case .int(let value): write(value)
        case .double(let value): write(value)
        case .string(let value): write(value)
        case .array(let elements):
            raw(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { raw(UInt8(ascii: ",")) }
                write(element)
            }
            raw(UInt8(ascii: "]"))
        case .object(let object):
            write(object)
        }
    }

    package mutating func write(_ object: JSONObject) {
        raw(UInt8(ascii: "{"))
        for (index, member) in object.enumerated() {
            if index > 0 { raw(UInt8(ascii: ",")) }
            write(member.key)
            raw(UInt8(ascii: ":"))
            write(member.value)
        }
        raw(UInt8(ascii: "}"))
    }
}
