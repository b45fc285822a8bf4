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

    /// As many `#` as make neither a quote nor a backslash in the text special.
    private static func marks(for text: String) -> String {
        var marks = "#"
        while text.utf8.contains("\"\(marks)".utf8) || text.utf8.contains("\\\(marks)".utf8) {
            marks += "#"
        }
        return marks
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

extension Sequence<UInt8> {
    fileprivate func contains(_ part: String.UTF8View) -> Bool {
        let bytes = Array(self)
        let part = Array(part)
        guard bytes.count >= part.count else { return false }
        return (0...bytes.count - part.count).contains { start in
            bytes[start..<start + part.count].elementsEqual(part)
        }
    }
}
