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
        var best = ControlBytes()
        best.appendAbsoluteMove(to: target)
        if let place {
            for move in Self.moves(from: place, to: target) where move.count < best.count {
                best = move
            }
        }
        append(best)
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

    private static func moves(
        from place: (column: Int?, row: Int), to target: Position
    ) -> [ControlBytes] {
        var moves: [ControlBytes] = []
        func offer(_ build: (inout ControlBytes) -> Void) {
            var move = ControlBytes()
            build(&move)
            moves.append(move)
        }
        if place.row == target.row {
            if place.column == target.column { return [ControlBytes()] }
            if target.column == 0 { offer { $0.append(0x0D) } }
            offer { $0.appendControl(target.column + 1, 0x47) }  // CHA
            guard let column = place.column else { return moves }
            let distance = target.column - column
            if distance > 0 {
                offer { $0.appendControl(distance, 0x43) }  // CUF
            } else {
                offer { $0.appendControl(-distance, 0x44) }  // CUB
                if distance > -4 { offer { for _ in distance..<0 { $0.append(0x08) } } }
            }
        } else if target.column == 0, target.row - place.row == 1 {
            // Never at the last row, where it would scroll.
            offer { $0.append("\r\n") }
        } else if place.column == target.column {
            let distance = target.row - place.row
            offer { $0.appendControl(abs(distance), distance > 0 ? 0x42 : 0x41) }  // CUD, CUU
        }
        return moves
    }
}
