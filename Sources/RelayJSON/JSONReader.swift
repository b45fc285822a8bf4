/// A pull reader over JSON bytes: full RFC 8259 grammar, UTF-8 checked, no tree.
///
/// The caller says what it expects next and the reader checks it:
///
///     var reader = JSONReader(bytes)
///     try reader.beginObject()
///     while let key = try reader.nextKey() {
///         if key == "data" { … } else { try reader.skipValue() }
///     }
///     try reader.finish()
///
/// A value type over memory that it does not own: it must not outlive the buffer it was made on.
/// Members of an object are returned in the order of the text, a repeated name repeatedly; the
/// caller decides (``readValue()`` keeps the last).
package struct JSONReader {
    @usableFromInline let start: UnsafePointer<UInt8>
    @usableFromInline let end: UnsafePointer<UInt8>
    @usableFromInline var cursor: UnsafePointer<UInt8>
    @usableFromInline let limits: JSONLimits
    @usableFromInline var depth = 0
    /// No member or element of the innermost container has been returned yet.
    @usableFromInline var isFirst = false

    package init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits = .init()) {
        // An empty buffer may have no address; this one, which is never read, takes its place.
        let nowhere: StaticString = ""
        let base = bytes.bindMemory(to: UInt8.self).baseAddress ?? nowhere.utf8Start
        start = base
        end = base + bytes.count
        cursor = base
        self.limits = limits
    }

    /// Bytes read so far.
    package var byteOffset: Int { cursor - start }

    /// The kinds of values, distinguished by their first byte.
    package enum Kind: Sendable { case object, array, string, number, bool, null }

    /// The kind of the next value; consumes only white space.
    @inlinable
    package mutating func peek() throws(JSONError) -> Kind {
        skipWhitespace()
        guard cursor < end else { throw JSONError(.unexpectedEnd, byteOffset: byteOffset) }
        switch cursor.pointee {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw unexpected("a value")
        }
    }

    // MARK: Containers

    package mutating func beginObject() throws(JSONError) {
        try enter(UInt8(ascii: "{"), "\"{\"")
    }

    package mutating func beginArray() throws(JSONError) {
        try enter(UInt8(ascii: "["), "\"[\"")
    }

    /// The next member's name, or nil at the end of the object, which is then consumed.
    package mutating func nextKey() throws(JSONError) -> JSONString? {
        guard try nextItem(closing: UInt8(ascii: "}"), "\"}\"") else { return nil }
        let key = try readString()
        try expect(UInt8(ascii: ":"), "\":\"")
        return key
    }

    /// Reads the next member's name if it is the expected one, written as expected.
    ///
    /// Members usually come in the order in which they are requested: this is one comparison where ``nextKey()`` looks
    /// at each byte of the name.
    /// - Parameter quoted: the name with quotes and colon.
    /// - Returns: false if there is anything else, including the object's end; then nothing is consumed.
    @inlinable
    package mutating func takeKey(_ quoted: UnsafeBufferPointer<UInt8>) -> Bool {
        var place = cursor
        if !isFirst {
            guard place < end, place.pointee == UInt8(ascii: ",") else { return false }
            place += 1
        }
        guard end - place >= quoted.count, let name = quoted.baseAddress,
            Self.equal(place, name, quoted.count)
        else { return false }
        cursor = place + quoted.count
        isFirst = false
        return true
    }

    /// Eight bytes at a time, the last eight overlapping; names have at least one letter, so that the
    /// quotes and the colon make four.
    @inlinable
    @inline(__always)
    static func equal(
        _ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int
    ) -> Bool {
        let one = UnsafeRawPointer(one)
        let other = UnsafeRawPointer(other)
        if count >= 8 {
            var place = 0
            while place + 8 <= count {
                if one.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    != other.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                {
                    return false
                }
                place += 8
            }
            return one.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        }
        for place in 0..<count
        where one.load(fromByteOffset: place, as: UInt8.self)
            != other.load(fromByteOffset: place, as: UInt8.self)
        {
            return false
        }
        return true
    }

    /// True if the array has another element; false at its end, which is then consumed.
    package mutating func nextElement() throws(JSONError) -> Bool {
        try nextItem(closing: UInt8(ascii: "]"), "\"]\"")
    }

    private mutating func enter(_ byte: UInt8, _ name: String) throws(JSONError) {
        try expect(byte, name)
        depth += 1
        guard depth <= limits.depth else {
            throw JSONError(.nestedTooDeep(limit: limits.depth), byteOffset: byteOffset - 1)
        }
        isFirst = true
    }

    private mutating func nextItem(closing: UInt8, _ name: String) throws(JSONError) -> Bool {
        skipWhitespace()
        guard cursor < end else { throw JSONError(.unexpectedEnd, byteOffset: byteOffset) }
        if cursor.pointee == closing {
            cursor += 1
            depth -= 1
            isFirst = false  // the enclosing container has had an item: this one
            return false
        }
        if isFirst {
            isFirst = false
        } else {
            guard cursor.pointee == UInt8(ascii: ",") else { throw unexpected("\",\" or \(name)") }
            cursor += 1
        }
        return true
    }

    // MARK: Scalars

    package mutating func readNull() throws(JSONError) { try expect("null") }

    package mutating func readBool() throws(JSONError) -> Bool {
        skipWhitespace()
        if cursor < end, cursor.pointee == UInt8(ascii: "t") {
            try expect("true")
            return true
        }
        try expect("false")
        return false
    }

    /// A string's content, still escaped; it points into the input.
    package mutating func readString() throws(JSONError) -> JSONString {
        try expect(UInt8(ascii: "\""), "a string")
        let first = cursor
        var hasEscapes = false
        var isASCII = true
        while cursor < end {
            // Eight bytes at a time while none of them is special.
            while end - cursor >= 8 {
                let word = UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self)
                guard Self.isPlain(word) else { break }
                cursor += 8
            }
            guard cursor < end else { break }
            let byte = cursor.pointee
            if byte == UInt8(ascii: "\"") {
                let content = UnsafeBufferPointer(start: first, count: cursor - first)
                cursor += 1
                if !isASCII, !Self.isValidUTF8(content) {
                    throw JSONError(.invalidUTF8, byteOffset: first - start)
                }
                return JSONString(escaped: content, hasEscapes: hasEscapes)
            } else if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try skipEscape()
            } else if byte < 0x20 {
                throw JSONError(.controlCharacterInString, byteOffset: byteOffset)
            } else {
                if byte >= 0x80 { isASCII = false }
                cursor += 1
            }
        }
        throw JSONError(.unexpectedEnd, byteOffset: byteOffset)
    }

    /// A number: whole and within 64 bits, or a fraction.
    package mutating func readNumber() throws(JSONError) -> JSONNumber {
        skipWhitespace()
        let first = cursor
        let isNegative = cursor < end && cursor.pointee == UInt8(ascii: "-")
        if isNegative { cursor += 1 }
        let integer = cursor
        var magnitude: UInt64 = 0
        var overflows = false
        while let digit = digit() {
            let (product, tooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(UInt64(digit))
            overflows = overflows || tooLarge || carries
            magnitude = sum
        }
        guard cursor > integer,
            cursor - integer == 1 || integer.pointee != UInt8(ascii: "0")
        else { throw JSONError(.invalidNumber, byteOffset: first - start) }
        var isWhole = true
        if cursor < end, cursor.pointee == UInt8(ascii: ".") {
            isWhole = false
            cursor += 1
            let fraction = cursor
            try requireDigits(from: first)
            if let value = Self.exactDecimal(
                magnitude, overflows, UnsafeBufferPointer(start: fraction, count: cursor - fraction)
            ),
                cursor == end || cursor.pointee | 0x20 != UInt8(ascii: "e")
            {
                return .double(isNegative ? -value : value)
            }
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            cursor += 1
            if cursor < end,
                cursor.pointee == UInt8(ascii: "+") || cursor.pointee == UInt8(ascii: "-")
            {
                cursor += 1
            }
            try requireDigits(from: first)
        }
        if isWhole, !overflows {
            if isNegative, magnitude <= UInt64(Int64.max) + 1, magnitude > 0 {
                return .int(Int64(bitPattern: ~magnitude &+ 1))
            }
            if !isNegative, magnitude <= UInt64(Int64.max) { return .int(Int64(magnitude)) }
        }
        let text = String(
            decoding: UnsafeBufferPointer(start: first, count: cursor - first), as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            throw JSONError(.invalidNumber, byteOffset: first - start)
        }
        return .double(value)
    }

    // MARK: Whole values

    /// The next value, whatever it is, as a tree.
    package mutating func readValue() throws(JSONError) -> JSONValue {
        switch try peek() {
        case .null:
            try readNull()
            return .null
        case .bool:
            return .bool(try readBool())
        case .number:
            switch try readNumber() {
            case .int(let value): return .int(value)
            case .double(let value): return .double(value)
            }
        case .string:
            return .string(try readString().string)
        case .array:
            var elements: [JSONValue] = []
            try beginArray()
            while try nextElement() { elements.append(try readValue()) }
            return .array(elements)
        case .object:
            var object = JSONObject()
            try beginObject()
            while let key = try nextKey() {
                let name = key.string
                object[name] = try readValue()
            }
            return .object(object)
        }
    }

    /// Checks and skips the next value; returns its bytes.
    @discardableResult
    package mutating func skipValue() throws(JSONError) -> UnsafeRawBufferPointer {
        skipWhitespace()
        let first = cursor
        switch try peek() {
        case .null: try readNull()
        case .bool: _ = try readBool()
        case .number: _ = try readNumber()
        case .string: _ = try readString()
        case .array:
            try beginArray()
            while try nextElement() { try skipValue() }
        case .object:
            try beginObject()
            while try nextKey() != nil { try skipValue() }
        }
        return UnsafeRawBufferPointer(start: first, count: cursor - first)
    }

    /// Checks that only white space is left.
    package mutating func finish() throws(JSONError) {
        skipWhitespace()
        guard cursor == end else { throw JSONError(.bytesBehindValue, byteOffset: byteOffset) }
    }

    // MARK: Bytes

    @inlinable
    mutating func skipWhitespace() {
        while cursor < end {
            switch cursor.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: cursor += 1
            default: return
            }
        }
    }

    @inlinable
    mutating func expect(_ byte: UInt8, _ name: @autoclosure () -> String) throws(JSONError) {
        skipWhitespace()
        guard cursor < end, cursor.pointee == byte else { throw unexpected(name()) }
        cursor += 1
    }

    private mutating func expect(_ word: StaticString) throws(JSONError) {
        skipWhitespace()
        for index in 0..<word.utf8CodeUnitCount {
            guard cursor < end, cursor.pointee == word.utf8Start[index] else {
                throw unexpected("\"\(word)\"")
            }
            cursor += 1
        }
    }

    @usableFromInline
    func unexpected(_ expected: String) -> JSONError {
        guard cursor < end else { return JSONError(.unexpectedEnd, byteOffset: byteOffset) }
        return JSONError(
            .unexpectedByte(cursor.pointee, expected: expected), byteOffset: byteOffset)
    }

    /// A decimal of at most 15 digits is the quotient of two whole doubles, rounded once.
    private static func exactDecimal(
        _ whole: UInt64, _ overflows: Bool, _ fraction: UnsafeBufferPointer<UInt8>
    ) -> Double? {
        guard !overflows, whole < 1_000_000_000, fraction.count <= 6 else { return nil }
        var magnitude = whole
        var power: UInt64 = 1
        for byte in fraction {
            magnitude = magnitude * 10 + UInt64(byte - UInt8(ascii: "0"))
            power *= 10
        }
        return Double(magnitude) / Double(power)
    }

    private mutating func digit() -> UInt8? {
        guard cursor < end else { return nil }
        let value = cursor.pointee &- UInt8(ascii: "0")
        guard value < 10 else { return nil }
        cursor += 1
        return value
    }

    private mutating func requireDigits(from first: UnsafePointer<UInt8>) throws(JSONError) {
        guard digit() != nil else { throw JSONError(.invalidNumber, byteOffset: first - start) }
        while digit() != nil {}
    }

    /// Skips one escape sequence, checking its form (RFC 8259 §7).
    private mutating func skipEscape() throws(JSONError) {
        let place = byteOffset
        cursor += 1
        guard cursor < end else { throw JSONError(.unexpectedEnd, byteOffset: byteOffset) }
        let byte = cursor.pointee
        cursor += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard cursor < end else { throw JSONError(.unexpectedEnd, byteOffset: byteOffset) }
                guard JSONString.hexadecimal(cursor.pointee) != nil else {
                    throw JSONError(.invalidEscape, byteOffset: place)
                }
                cursor += 1
            }
        default:
            throw JSONError(.invalidEscape, byteOffset: place)
        }
    }

    /// True if none of eight bytes is a quote, a backslash, a control character or beyond ASCII.
    @inline(__always)
    private static func isPlain(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let special =
            (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
            | (word &- ones &* 0x20) | word
        return special & highs == 0
    }

    private static func isValidUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }
}

/// A number as written in the text.
package enum JSONNumber: Sendable, Hashable {
    case int(Int64)
    case double(Double)
}
