/// Assembles characters from UTF-8 that comes a byte at a time.
struct UTF8Assembler: Sendable {
    enum Outcome {
        case pending
        case scalar(Unicode.Scalar)
        /// Not UTF-8. Unless the byte belonged to it, it begins something else.
        case broken(isTaken: Bool)
    }

    private var value: UInt32 = 0
    private var remaining = 0
    /// What the next byte may be: the first continuation of some leads is restricted (Unicode 16, table 3-7).
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    var isPending: Bool { remaining > 0 }

    mutating func receive(_ byte: UInt8) -> Outcome {
        guard isPending else { return begin(byte) }
        guard allowed.contains(byte) else {
            remaining = 0
            return .broken(isTaken: false)
        }
        allowed = 0x80...0xBF
        value = value << 6 | UInt32(byte & 0x3F)
        remaining -= 1
        if isPending { return .pending }
        return Unicode.Scalar(value).map(Outcome.scalar) ?? .broken(isTaken: true)
    }

    private mutating func begin(_ byte: UInt8) -> Outcome {
        allowed = 0x80...0xBF
        switch byte {
        case 0..<0x80: return .scalar(Unicode.Scalar(byte))
        case 0xC2...0xDF: remaining = 1
        case 0xE0...0xEF:
            remaining = 2
            if byte == 0xE0 { allowed = 0xA0...0xBF }
            if byte == 0xED { allowed = 0x80...0x9F }
        case 0xF0...0xF4:
            remaining = 3
            if byte == 0xF0 { allowed = 0x90...0xBF }
            if byte == 0xF4 { allowed = 0x80...0x8F }
        default: return .broken(isTaken: true)
        }
        // 5, 4 or 3 bits of the lead belong to the value.
        value = UInt32(byte & (0x3F >> UInt8(remaining)))
        return .pending
    }
}

/// Collects what is pasted, up to `ESC [ 201 ~`.
///
/// At most 1 MiB of it is kept, from the beginning. Ends of lines, which terminals send as they like, are line feeds.
struct PasteAssembler: Sendable {
    static let capacity = 1_048_576
    private static let end: [UInt8] = Array("\u{1B}[201~".utf8)

    private var bytes: [UInt8] = []
    /// So many bytes of the end have come.
    private var matchedCount = 0
    private var isCut = false

    /// - Returns: the text, if this was its last byte.
    mutating func receive(_ byte: UInt8) -> String? {
        if byte == Self.end[matchedCount] {
            matchedCount += 1
            return matchedCount == Self.end.count ? finish() : nil
        }
        // Only the first byte of the end is ESC, so a new match begins here if at all.
        for byte in Self.end[..<matchedCount] { keep(byte) }
        matchedCount = 0
        if byte == Self.end[0] { matchedCount = 1 } else { keep(byte) }
        return nil
    }

    private mutating func keep(_ byte: UInt8) {
        if bytes.count < Self.capacity { bytes.append(byte) } else { isCut = true }
    }

    private mutating func finish() -> String {
        defer { self = PasteAssembler() }
        if isCut { dropPartOfCharacter() }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            if byte == 0x0A, index > 0, bytes[index - 1] == 0x0D { continue }
            text.append(byte == 0x0D ? 0x0A : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func dropPartOfCharacter() {
        guard let lead = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return }
        let count = bytes[lead] < 0x80 ? 1 : bytes[lead] < 0xE0 ? 2 : bytes[lead] < 0xF0 ? 3 : 4
        if bytes.count - lead < count { bytes.removeSubrange(lead...) }
    }
}
