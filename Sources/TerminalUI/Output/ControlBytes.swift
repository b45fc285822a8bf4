/// What is written to a terminal, with the terminal's words for moves and styles (ECMA-48).
struct ControlBytes {
    private(set) var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ other: ControlBytes) { bytes.append(contentsOf: other.bytes) }

    mutating func append(number: Int) {
        if number >= 10 { append(number: number / 10) }
        bytes.append(0x30 + UInt8(number % 10))
    }

    /// CSI, a number, and what is done with it; a 1 is left out, as it is what terminals take for nothing.
    mutating func appendControl(_ number: Int, _ final: UInt8) {
        append("\u{1B}[")
        if number != 1 { append(number: number) }
        append(final)
    }

    /// A cell's grapheme; a space for what no terminal may be sent.
    mutating func append(_ glyph: Glyph, _ graphemes: GraphemeTable) {
        switch glyph.code {
        case 0x20..<0x7F: bytes.append(UInt8(glyph.code))
        case 0..<0xA0: bytes.append(0x20)
        case Glyph.firstOfTable...: bytes.append(contentsOf: graphemes.character(glyph).utf8)
        default: append(Unicode.Scalar(glyph.code) ?? "\u{FFFD}")
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { bytes.append(byte) }
    }

    /// The shortest way to a cell of the screen.
    /// - Parameters:
    ///   - place: where the cursor is. Its column is nil if it is not known, or at the end of the row, where
    ///     terminals wait with going on to the next one.
    mutating func appendMove(from place: (column: Int?, row: Int)?, to target: Position) {
        if let place, place.row == target.row, place.column == target.column { return }
        guard let place, let move = Self.shortMove(from: place, to: target),
            move.count < Self.absoluteCount(target)
        else { return appendAbsoluteMove(to: target) }
        switch move {
        case .lineStart: append(0x0D)
        // Never at the last row, where it would scroll.
        case .nextLine: append("\r\n")
        case .back(let count): for _ in 0..<count { append(0x08) }
        case .control(let number, let final): appendControl(number, final)
        }
    }

    private enum Move {
        case lineStart, nextLine
        case back(Int)
        case control(Int, UInt8)

        /// In bytes.
        var count: Int {
            switch self {
            case .lineStart: 1
            case .nextLine: 2
            case .back(let count): count
            case .control(1, _): 3
            case .control(let number, _): 3 + ControlBytes.digitCount(number)
            }
        }
    }

    private static func digitCount(_ number: Int) -> Int {
        number < 10 ? 1 : number < 100 ? 2 : number < 1_000 ? 3 : 4
    }

    private static func shortMove(
        from place: (column: Int?, row: Int), to target: Position
    ) -> Move? {
        if place.row == target.row {
            if target.column == 0 { return .lineStart }
            let absolute = Move.control(target.column + 1, 0x47)  // CHA
            guard let column = place.column else { return absolute }
            let distance = target.column - column
            let relative: Move =
                distance > 0
                ? .control(distance, 0x43)  // CUF
                : distance > -4 ? .back(-distance) : .control(-distance, 0x44)  // CUB
            return relative.count < absolute.count ? relative : absolute
        }
        let distance = target.row - place.row
        if target.column == 0, distance == 1 { return .nextLine }
        if place.column != target.column { return nil }
        return .control(abs(distance), distance > 0 ? 0x42 : 0x41)  // CUD, CUU
    }

    private static func absoluteCount(_ target: Position) -> Int {
        3 + (target.row > 0 ? digitCount(target.row + 1) : 0)
            + (target.column > 0 ? 1 + digitCount(target.column + 1) : 0)
    }

    private mutating func appendAbsoluteMove(to target: Position) {
        // CUP
        append("\u{1B}[")
        if target.row > 0 { append(number: target.row + 1) }
        if target.column > 0 {
            append(0x3B)
            append(number: target.column + 1)
        }
        append(0x48)
    }
}
