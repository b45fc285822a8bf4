#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Compares what should be on the screen with what is, and says what to write.
///
/// Invariants, which the tests name by number:
/// 1. After the bytes of a frame, the screen's cells are the buffer's, whatever was shown before.
/// 2. Nothing has changed: no bytes.
/// 3. Only changed cells are written, and unchanged ones between two of them if that is shorter than a move.
/// 4. Where terminals disagree on a grapheme's columns, no cell but its own is affected: the cursor is moved after it,
///    and the rest of the row is written whether it has changed or not.
/// 5. It keeps the cells of one screen, and nothing that grows.
///
/// It expects automatic wrapping to be switched off, but a terminal that waits at the end of a row does no harm.
package struct FrameWriter {
    /// How many colours the terminal has. What is on the screen stays as it is: see ``invalidate()``.
    package var colors: ColorDepth
    /// Whether the terminal shows a frame at once if it is told to (mode 2026).
    package var isSynchronized: Bool

    private var size = Size.zero
    /// What the screen shows. Meaningless while nothing is known.
    private var shown: [Cell] = []
    private var isKnown = false
    private var generation = 0
    private var graphemes: ObjectIdentifier?

    /// Where the cursor is. The column is nil if terminals may disagree.
    private var place: (column: Int?, row: Int)?
    /// What the next character would look like, reduced to the colours that there are.
    private var pen: Style?
    /// The same, as it is in buffers.
    private var wanted: Style?
    private var isCursorShown: Bool?
    /// Whether the terminal may have drawn over the rest of the row.
    private var isRestDoubtful = false
    private var output = ControlBytes()

    package init(colors: ColorDepth, isSynchronized: Bool = false) {
        self.colors = colors
        self.isSynchronized = isSynchronized
    }

    /// Nothing is known of the screen any more: the next frame draws all of it.
    package mutating func invalidate() { isKnown = false }

    /// What to write, in one piece, for the screen to show the buffer.
    /// - Parameter cursor: where the cursor is to be seen; nil hides it. A place outside of the screen hides it, too.
    package mutating func frame(_ buffer: CellBuffer, cursor: Position? = nil) -> [UInt8] {
        output = ControlBytes()
        let cursor = cursor.flatMap { buffer.bounds.contains($0) ? $0 : nil }
        if !isKnown || size != buffer.size || !knows(buffer.graphemes) { startAnew(buffer) }
        for row in 0..<size.height { writeRow(row, buffer) }
        let rows = output
        output = ControlBytes()
        if !rows.isEmpty {
            if isSynchronized {
                output.append("\u{1B}[?2026h")
            } else if isCursorShown != false {
                // It would be seen moving.
                hideCursor()
            }
        }
        output.append(rows)
        finish(cursor)
        if !rows.isEmpty, isSynchronized { output.append("\u{1B}[?2026l") }
        return output.bytes
    }

    private func knows(_ table: GraphemeTable) -> Bool {
        graphemes == ObjectIdentifier(table) && generation == table.generation
    }

    private mutating func startAnew(_ buffer: CellBuffer) {
        size = buffer.size
        shown = Array(repeating: .blank, count: size.width * size.height)
        graphemes = ObjectIdentifier(buffer.graphemes)
        generation = buffer.graphemes.generation
        isKnown = true
        output.append("\u{1B}[m\u{1B}[H\u{1B}[2J")
        pen = .plain
        wanted = .plain
        place = (0, 0)
        isCursorShown = nil
    }

    private mutating func hideCursor() {
        output.append("\u{1B}[?25l")
        isCursorShown = false
    }

    private mutating func finish(_ cursor: Position?) {
        guard let cursor else {
            if isCursorShown != false { hideCursor() }
            return
        }
        move(to: cursor)
        if isCursorShown != true {
            output.append("\u{1B}[?25h")
            isCursorShown = true
        }
    }

    private mutating func move(to target: Position) {
        output.appendMove(from: place, to: target)
        place = (target.column, target.row)
    }

    private mutating func setPen(_ style: Style) {
        if style == wanted { return }
        wanted = style
        var style = style
        style.foreground = style.foreground.reduced(to: colors)
        style.background = style.background.reduced(to: colors)
        output.appendStyle(from: pen, to: style)
        pen = style
    }

    // MARK: - Rows

    private mutating func writeRow(_ row: Int, _ buffer: CellBuffer) {
        let start = row * size.width
        let width = size.width
        let hasChanged = buffer.cells.withUnsafeBufferPointer { new in
            shown.withUnsafeBufferPointer { old in
                !Self.areEqual(new, old, start..<start + width)
            }
        }
        guard hasChanged else { return }
        isRestDoubtful = false
        let blankFrom = blankTail(buffer.cells, start)
        var column = 0
        while let first = nextChange(from: column, start, buffer.cells) {
            if first >= blankFrom {
                blankTail(from: first, row)
                break
            }
            column = writeRun(from: first, upTo: blankFrom, row, buffer)
        }
        for index in start..<start + width { shown[index] = buffer.cells[index] }
    }

    private static func areEqual(
        _ new: UnsafeBufferPointer<Cell>, _ old: UnsafeBufferPointer<Cell>, _ range: Range<Int>
    ) -> Bool {
        guard let first = new.baseAddress, let second = old.baseAddress else { return true }
        let byteCount = range.count * MemoryLayout<Cell>.stride
        return memcmp(first + range.lowerBound, second + range.lowerBound, byteCount) == 0
    }

    /// The first column from which on all is blank; the width if the last cell is not.
    private func blankTail(_ cells: [Cell], _ start: Int) -> Int {
        var column = size.width
        while column > 0, cells[start + column - 1] == .blank { column -= 1 }
        return column
    }

    /// The next column that is not as it should be: of a wide grapheme, the first one.
    private func nextChange(from column: Int, _ start: Int, _ cells: [Cell]) -> Int? {
        if isRestDoubtful { return column < size.width ? column : nil }
        var change = column
        while change < size.width, cells[start + change] == shown[start + change] { change += 1 }
        if change >= size.width { return nil }
        let isRight = cells[start + change].glyph == .continuation
        return isRight ? max(change - 1, column) : change
    }

    /// Writes what has changed, up to where enough has not to be worth a move.
    /// - Returns: the column after it.
    private mutating func writeRun(
        from first: Int, upTo end: Int, _ row: Int, _ buffer: CellBuffer
    ) -> Int {
        let start = row * size.width
        var column = first
        move(to: Position(column: column, row: row))
        while column < end {
            column = writeCell(column, row, buffer)
            guard let next = nextChange(from: column, start, buffer.cells), next < end else {
                return column
            }
            if next == column, place?.column == column { continue }
            if place?.column != column || !isWorthWriting(column..<next, start, buffer) {
                return column
            }
            while column < next { column = writeCell(column, row, buffer) }
        }
        return column
    }

    /// Whether unchanged cells are shorter than the move over them, which takes at least 3 bytes.
    private func isWorthWriting(_ gap: Range<Int>, _ start: Int, _ buffer: CellBuffer) -> Bool {
        guard gap.count < 4 else { return false }
        let style = buffer.cells[start + gap.lowerBound - 1].style
        return gap.allSatisfy { column in
            let cell = buffer.cells[start + column]
            return cell.style == style && 0x20..<0x7F ~= cell.glyph.code
        }
    }

    /// - Returns: the column after it.
    private mutating func writeCell(_ column: Int, _ row: Int, _ buffer: CellBuffer) -> Int {
        let index = row * size.width + column
        let cell = buffer.cells[index]
        let isWide =
            column + 1 < size.width && buffer.cells[index + 1].glyph == .continuation
        let next = column + (isWide ? 2 : 1)
        setPen(cell.style)
        if 0x20..<0x7F ~= cell.glyph.code, !isWide {
            output.append(UInt8(cell.glyph.code))
            place = next < size.width ? (next, row) : (nil, row)
        } else if cell.glyph == .continuation {
            // The right half of nothing.
            output.append(0x20)
            place = next < size.width ? (next, row) : (nil, row)
        } else if buffer.graphemes.isDisputed(cell.glyph) {
            // Where the terminal takes one column for it, the other one shall be empty.
            if isWide {
                output.append("  ")
                place = (nil, row)
                move(to: Position(column: column, row: row))
            }
            output.append(cell.glyph, buffer.graphemes)
            place = (nil, row)
            isRestDoubtful = true
        } else {
            output.append(cell.glyph, buffer.graphemes)
            place = next < size.width ? (next, row) : (nil, row)
        }
        return next
    }

    /// Erases what was after a row's text.
    private mutating func blankTail(from first: Int, _ row: Int) {
        let start = row * size.width
        let changes = (first..<size.width).last { shown[start + $0] != .blank } ?? first
        move(to: Position(column: first, row: row))
        // Erased cells get the pen's background.
        setPen(.plain)
        let count = changes - first + 1
        if isRestDoubtful || count > 3 {
            output.append("\u{1B}[K")
        } else {
            for _ in 0..<count { output.append(0x20) }
            place = first + count < size.width ? (first + count, row) : (nil, row)
        }
    }
}
