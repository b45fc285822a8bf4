import RelayJSON

/// A place in a connection: what a cursor of the Cursor Connections specification names.
///
/// It is the position of a link in its list, which the link keeps for as long as it exists, whatever is
/// added and removed around it.
///
/// Clients can send any cursor, so a position may lie far outside of any list. It is only compared: the
/// type has no arithmetic, and lists accept any position (``LinkList``).
package struct ConnectionCursor: Hashable, Sendable {
    /// From 0 to `Int.max`.
    let position: Int

    /// - Parameter position: of a link.
    init(_ position: Int) {
        assert(position >= 0, "positions are counted from 0")
        self.position = position
    }
}

// The opaque text: base64url of `p` and the position in decimal.
extension ConnectionCursor {
    /// Characters of the largest position's text. A connection below a list asks for each element again.
    private static let greatestLength = 27

    /// nil if the text is not one of our cursors.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.greatestLength, let bytes = Base64URL.decode(text),
            bytes.first == UInt8(ascii: "p")
        else { return nil }
        let digits = bytes.dropFirst()
        guard digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let position = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.init(position)
    }

    func write(to writer: inout JSONWriter) {
        var digits = JSONWriter(capacity: 32)
        digits.raw(UInt8(ascii: "p"))
        digits.write(Int64(position))
        digits.withBytes { Base64URL.encode($0, to: &writer) }
    }
}
