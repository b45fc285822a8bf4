/// What one cell of the screen shows: 16 bytes, which are equal if and only if cells are.
package struct Cell: Hashable, Sendable {
    /// A grapheme: a scalar's value if it is one scalar, otherwise a number of the buffer's ``GraphemeTable``.
    package var glyph: Glyph
    package var style: Style

    package init(_ glyph: Glyph, _ style: Style) {
        self.glyph = glyph
        self.style = style
    }

    // Written out, as what the compiler derives calls functions for each member.
    package static func == (one: Cell, other: Cell) -> Bool {
        one.glyph.code == other.glyph.code && one.style == other.style
    }

    package static let blank = Cell(.space, .plain)
}

/// A grapheme in four bytes.
package struct Glyph: Hashable, Sendable {
    package let code: UInt32

    package init(code: UInt32) { self.code = code }

    package static let space = Glyph(code: 0x20)
    /// What cannot be drawn is drawn as this.
    package static let unknown = Glyph(code: 0xFFFD)
    /// The right half of a wide grapheme, whose cell is the one before.
    package static let continuation = Glyph(code: .max)
    /// From here on the code is a number in a table.
    static let firstOfTable: UInt32 = 0x8000_0000
}

/// Graphemes of several scalars, such as flags, each with a number.
///
/// Whoever draws clears it when it is full, before a frame: then all cells have to be drawn anew.
package final class GraphemeTable {
    private var graphemes: [Character] = []
    /// Of each grapheme, ``Swift/Character/isDisputed``.
    private var disputes: [Bool] = []
    private var numbers: [Character: UInt32] = [:]
    /// How many times it was cleared: what a number means holds for one generation.
    package private(set) var generation = 0

    /// How many there may be.
    package static let capacity = 65_536

    package init() {}

    package var isFull: Bool { graphemes.count >= Self.capacity }

    package func glyph(_ character: Character) -> Glyph {
        let scalars = character.unicodeScalars
        if let first = scalars.first, scalars.index(after: scalars.startIndex) == scalars.endIndex {
            return Glyph(code: first.value)
        }
        if let number = numbers[character] { return Glyph(code: Glyph.firstOfTable + number) }
        // Whoever draws looks at isFull before each frame; hardly a frame has more graphemes than this.
        guard !isFull, character.utf8.count <= Character.longestUTF8 else { return .unknown }
        let number = UInt32(graphemes.count)
        graphemes.append(character)
        disputes.append(character.isDisputed)
        numbers[character] = number
        return Glyph(code: Glyph.firstOfTable + number)
    }

    /// The grapheme of a glyph; a space for a continuation.
    package func character(_ glyph: Glyph) -> Character {
        if glyph == .continuation { return " " }
        if glyph.code >= Glyph.firstOfTable {
            let number = Int(glyph.code - Glyph.firstOfTable)
            return number < graphemes.count ? graphemes[number] : "\u{FFFD}"
        }
        return Unicode.Scalar(glyph.code).map(Character.init) ?? "\u{FFFD}"
    }

    /// Whether terminals disagree on how many columns a glyph takes.
    package func isDisputed(_ glyph: Glyph) -> Bool {
        if glyph.code < Glyph.firstOfTable {
            return Unicode.Scalar(glyph.code)?.joinsNext ?? false
        }
        let number = Int(glyph.code - Glyph.firstOfTable)
        return number < disputes.count && disputes[number]
    }

    package func clear() {
        graphemes = []
        disputes = []
        numbers = [:]
        generation += 1
    }
}

/// The cells of a screen, row after row.
package struct CellBuffer: Equatable {
    package private(set) var size: Size
    package private(set) var cells: [Cell]
    package let graphemes: GraphemeTable

    package init(_ size: Size, _ graphemes: GraphemeTable) {
        self.size = Size(width: max(size.width, 0), height: max(size.height, 0))
        self.graphemes = graphemes
        cells = Array(repeating: .blank, count: self.size.width * self.size.height)
    }

    package static func == (one: CellBuffer, other: CellBuffer) -> Bool {
        one.size == other.size && one.cells == other.cells
    }

    package var bounds: Rect { Rect(size) }

    package subscript(_ position: Position) -> Cell { cells[index(position.column, position.row)] }

    private func index(_ column: Int, _ row: Int) -> Int { row * size.width + column }

    /// Makes all cells blank.
    package mutating func clear() {
        for index in cells.indices { cells[index] = .blank }
    }

    /// Gives all cells of a rectangle a style and a glyph that is one column wide.
    package mutating func fill(_ rect: Rect, with glyph: Glyph = .space, style: Style = .plain) {
        let rect = rect.intersection(bounds)
        if rect.isEmpty { return }
        for row in rect.rows {
            split(at: rect.columns.lowerBound, row)
            split(at: rect.columns.upperBound, row)
            for column in rect.columns { cells[index(column, row)] = Cell(glyph, style) }
        }
    }

    /// Changes the style of cells and leaves their glyphs.
    package mutating func restyle(_ rect: Rect, _ change: (inout Style) -> Void) {
        let rect = rect.intersection(bounds)
        for row in rect.rows {
            for column in rect.columns { change(&cells[index(column, row)].style) }
        }
    }

    /// Writes a line of text from a position to the right. What is outside of `clip` is not drawn; a wide grapheme that
    /// is only in part inside is drawn as a space.
    /// - Returns: how many columns the whole text has.
    @discardableResult
    package mutating func write(
        _ text: some StringProtocol, at position: Position, style: Style, clip: Rect
    ) -> Int {
        let clip = clip.intersection(bounds)
        let asciiCount = text.utf8.withContiguousStorageIfAvailable {
            writeASCII($0, at: position, style: style, clip: clip)
        }
        if let count = asciiCount.flatMap(\.self) { return count }
        var column = position.column
        for character in text {
            let width = character.columnCount
            if width == 0 { continue }
            if clip.rows.contains(position.row) {
                put(character, width, column, position.row, style, clip.columns)
            }
            column += width
        }
        return column - position.column
    }

    /// The same for text that is a byte and a column for each character, as most is.
    /// - Returns: nil for other text; then nothing was written.
    private mutating func writeASCII(
        _ text: UnsafeBufferPointer<UInt8>, at position: Position, style: Style, clip: Rect
    ) -> Int? {
        guard text.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return nil }
        let columns = (position.column..<position.column + text.count).clamped(to: clip.columns)
        if columns.isEmpty || !clip.rows.contains(position.row) { return text.count }
        split(at: columns.lowerBound, position.row)
        split(at: columns.upperBound, position.row)
        for column in columns {
            let code = UInt32(text[column - position.column])
            cells[index(column, position.row)] = Cell(Glyph(code: code), style)
        }
        return text.count
    }

    private mutating func put(
        _ character: Character, _ width: Int, _ column: Int, _ row: Int, _ style: Style,
        _ columns: Range<Int>
    ) {
        let place = (column..<column + width).clamped(to: columns)
        if place.isEmpty { return }
        split(at: place.lowerBound, row)
        split(at: place.upperBound, row)
        guard place.count == width else {
            for column in place { cells[index(column, row)] = Cell(.space, style) }
            return
        }
        let glyph = graphemes.glyph(character)
        cells[index(column, row)] = Cell(glyph, style)
        if width == 2 {
            // The table may be full.
            let isWhole = glyph != .unknown
            cells[index(column + 1, row)] = Cell(isWhole ? .continuation : .space, style)
        }
    }

    /// What is drawn from here on, or up to here, may leave half of a wide grapheme: its halves become spaces.
    private mutating func split(at column: Int, _ row: Int) {
        guard column > 0, column < size.width else { return }
        let place = index(column, row)
        guard cells[place].glyph == .continuation else { return }
        cells[place].glyph = .space
        cells[place - 1].glyph = .space
    }

    /// The text of a row, without the spaces at its end.
    package func text(ofRow row: Int) -> String {
        var text = ""
        for column in 0..<size.width {
            let glyph = cells[index(column, row)].glyph
            if glyph != .continuation { text.append(graphemes.character(glyph)) }
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// The text of all rows, without empty ones at the end.
    package var text: String {
        var rows = (0..<size.height).map(text(ofRow:))
        while rows.last?.isEmpty == true { rows.removeLast() }
        return rows.joined(separator: "\n")
    }
}
