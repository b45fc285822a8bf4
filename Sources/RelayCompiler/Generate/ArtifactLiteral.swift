extension SwiftText {
    /// `head(artifact: …)`, the artifact as a raw string over several lines.
    ///
    /// A line ends behind a comma, or where a line of the request's text ends. None of that is part of the string.
    mutating func artifact(_ head: String, _ artifact: String) {
        let marks = Self.marks(for: artifact)
        line("\(head)(")
        indented { text in
            text.line("artifact: \(marks)\"\"\"")
            text.indented { text in
                let lines = Self.pieces(of: artifact)
                for (place, piece) in lines.enumerated() {
                    text.line(piece + (place + 1 < lines.count ? "\\\(marks)" : ""))
                }
                text.line("\"\"\"\(marks))")
            }
        }
    }

    /// As many `#` as make neither a quote nor a backslash in the text special: more than follow one of them.
    private static func marks(for text: String) -> String {
        var longest = 0
        /// Of the marks behind the last quote or backslash; nil if anything else came in between.
        var count: Int?
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): count = 0
            case UInt8(ascii: "#"):
                count = count.map { $0 + 1 }
                longest = max(longest, count ?? 0)
            default: count = nil
            }
        }
        return String(repeating: "#", count: longest + 1)
    }

    private static func pieces(of text: String) -> [String] {
        let room = 80
        var pieces: [String] = []
        var piece: [UInt8] = []
        /// Where the piece can end.
        var end: Int?
        var isEscaped = false
        func cut(at count: Int) {
            pieces.append(String(decoding: piece[..<count], as: UTF8.self))
            piece.removeFirst(count)
            end = nil
        }
        for byte in text.utf8 {
            piece.append(byte)
            if isEscaped, byte == UInt8(ascii: "n") { cut(at: piece.count) }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if byte == UInt8(ascii: ","), piece.count <= room || end == nil { end = piece.count }
            if piece.count > room, let end { cut(at: end) }
        }
        if !piece.isEmpty { cut(at: piece.count) }
        return pieces
    }
}
