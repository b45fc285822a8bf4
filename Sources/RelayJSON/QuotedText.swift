extension String {
    /// The text for a message that quotes it: what a client sent may be millions of bytes long, and a message may be one
    /// of hundreds.
    package var shortened: String { shortened(to: JSONValue.quotedBytes) }

    /// At most so many bytes of the text.
    package func shortened(to limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end]) + "…"
    }
}

extension JSONValue {
    /// How much of a text a message quotes.
    fileprivate static let quotedBytes = 256

    /// The value for a message: shortened, and with names for the values that JSON cannot express.
    package var described: String {
        if case .double(let number) = self, !number.isFinite {
            return number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
        }
        var writer = JSONWriter()
        writeBeginning(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self).shortened
    }

    /// Writes the value, but not much more of it than a message quotes.
    private func writeBeginning(to writer: inout JSONWriter) {
        switch self {
        case .array(let elements):
            writer.raw(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if writer.count > Self.quotedBytes { return }
                if index > 0 { writer.raw(UInt8(ascii: ",")) }
                element.writeBeginning(to: &writer)
            }
            writer.raw(UInt8(ascii: "]"))
        case .object(let object):
            writer.raw(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if writer.count > Self.quotedBytes { return }
                if index > 0 { writer.raw(UInt8(ascii: ",")) }
                writer.write(member.key.shortened)
                writer.raw(UInt8(ascii: ":"))
                member.value.writeBeginning(to: &writer)
            }
            writer.raw(UInt8(ascii: "}"))
        case .string(let text):
            writer.write(text.shortened)
        case .null, .bool, .int, .double:
            writer.write(self)
        }
    }
}
