/// Appends JSON to a buffer of bytes.
///
/// Scalars are written by `write`; structure is up to the caller, byte by byte, because the hot
/// callers have it ready-made (`"name":` is one copy):
///
///     var writer = JSONWriter()
///     writer.raw("{\"id\":")
///     writer.write("VG9kbzox")
///     writer.raw("}")
///
/// Not copyable, so the buffer has one owner and an append only checks for room.
package struct JSONWriter: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// Bytes written.
    package private(set) var count: Int
    private let limit: Int
    /// More was written than the limit allows, if only for a moment. It is written all the same; the caller looks
    /// here after each value and stops.
    package private(set) var exceedsLimit = false

    /// - Parameter limit: how many bytes may be written. Costs nothing while there is room: only the buffer's growth
    ///   is compared with it.
    package init(capacity: Int = 256, limit: Int = .max) {
        self.capacity = min(max(capacity, 32), limit)
        self.limit = limit
        base = .allocate(capacity: self.capacity)
        count = 0
    }

    /// Continues after existing JSON bytes.
    package init(continuing json: [UInt8], room: Int = 256) {
        self.init(capacity: json.count + room)
        raw(json)
    }

    deinit { base.deallocate() }

    /// Everything written.
    package var bytes: [UInt8] {
        Array(UnsafeBufferPointer(start: base, count: count))
    }

    /// Calls the body with everything written, without copying.
    package borrowing func withBytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Removes everything after the first `count` bytes.
    package mutating func truncate(to count: Int) {
        precondition(0...self.count ~= count, "a writer is cut back, not forward")
        self.count = count
    }

    // MARK: Bytes

    /// Makes room for `more` bytes and returns the address of the first of them.
    @inline(__always)
    private mutating func room(_ more: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity - count < more { grow(more) }
        return base + count
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        if more > limit - count { exceedsLimit = true }
        let most = exceedsLimit ? .max : limit
        capacity = max(min(capacity * 2, most), count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
    }

    @inline(__always)
    private mutating func append(_ bytes: UnsafePointer<UInt8>, _ length: Int) {
        room(length).update(from: bytes, count: length)
        count += length
    }

    /// Copies bytes that are already JSON.
    package mutating func raw(_ json: [UInt8]) {
        json.withUnsafeBufferPointer { raw($0) }
    }

    package mutating func raw(_ json: UnsafeBufferPointer<UInt8>) {
        if let start = json.baseAddress { append(start, json.count) }
    }

    package mutating func raw(_ json: StaticString) {
        append(json.utf8Start, json.utf8CodeUnitCount)
    }

    /// One structural byte.
    package mutating func raw(_ byte: UInt8) {
        room(1).pointee = byte
        count += 1
    }

    // MARK: Scalars

    package mutating func writeNull() { raw("null") }

    package mutating func write(_ value: Bool) { value ? raw("true") : raw("false") }

    package mutating func write(_ value: Int64) {
        if 0..<10 ~= value {
            raw(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
            return
        }
        let end = room(20) + 20  // "-9223372036854775808"
        var magnitude = value.magnitude
        var place = end
        repeat {
            let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
            place -= 1
            place.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remainder)
            magnitude = quotient
        } while magnitude > 0
        if value < 0 {
            place -= 1
            place.pointee = UInt8(ascii: "-")
        }
        let length = end - place
        (base + count).update(from: place, count: length)
        count += length
    }

    /// The shortest text that parses to the same number; JSON has no infinity, so that is null.
    package mutating func write(_ value: Double) {
        guard value.isFinite else { return writeNull() }
        var text = value.description
        text.withUTF8 { raw($0) }
    }

    package mutating func write(_ value: String) {
        var value = value
        value.withUTF8 { write(utf8: $0) }
    }

    /// A string from its UTF-8 bytes: quoted, and escaped as RFC 8259 §7 requires.
    package mutating func write(utf8 content: UnsafeBufferPointer<UInt8>) {
        let length = content.count
        let place = room(length + 2)
        place.pointee = UInt8(ascii: "\"")
        guard let source = content.baseAddress else {
            place[1] = UInt8(ascii: "\"")
            count += 2
            return
        }
        let plain = Self.plainPrefix(source, length)
        (place + 1).update(from: source, count: plain)
        count += plain + 1
        if plain < length { writeEscaped(source + plain, length - plain) }
        raw(UInt8(ascii: "\""))
    }

    /// How many bytes from the start need no escaping; eight at a time.
    @inline(__always)
    private static func plainPrefix(_ bytes: UnsafePointer<UInt8>, _ length: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var index = 0
        while length - index >= 8 {
            let word = UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self)
            let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let special =
                (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
                | (word &- ones &* 0x20) & ~word
            guard special & highs == 0 else { break }
            index += 8
        }
        while index < length, !needsEscape(bytes[index]) { index += 1 }
        return index
    }

    @inline(__always)
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func writeEscaped(_ bytes: UnsafePointer<UInt8>, _ length: Int) {
        for index in 0..<length {
            let byte = bytes[index]
            if Self.needsEscape(byte) { writeEscape(byte) } else { raw(byte) }
        }
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
            raw(digits.utf8Start[Int(byte >> 4)])
            raw(digits.utf8Start[Int(byte & 15)])
        }
    }

    // MARK: Trees

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
