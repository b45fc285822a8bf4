@testable import TerminalUI

/// A terminal that understands what we write, and nothing else: everything else is a mistake.
struct FakeTerminal {
    /// What it takes for one cell's content.
    enum Segmentation {
        /// Graphemes, as we do.
        case graphemes
        /// Each character with a width of its own, as older terminals do.
        case scalars
    }

    struct FakeCell: Equatable {
        var text: Character = " "
        /// The right half of a wide grapheme.
        var isRight = false
        var style = Style.plain
    }

    struct Cursor: Equatable {
        var column = 0
        var row = 0
        /// After the last column: the next character goes to the next row.
        var isWaiting = false
    }

    let segmentation: Segmentation
    /// DECRQM's answers for modes that can be set; other modes have 0.
    var offeredModes: Set<Int> = []
    var knowsKeyboardProtocol = false
    var answersAttributes = true

    private(set) var size: Size
    private(set) var cells: [FakeCell]
    private(set) var cursor = Cursor()
    private(set) var pen = Style.plain
    /// Private modes that were set or reset.
    private(set) var modes: [Int: Bool] = [:]
    /// Of the alternate screen.
    private(set) var keyboardFlags: [Int] = []
    private(set) var mistakes: [String] = []
    /// How many characters were drawn, blanks by erasing not counted.
    private(set) var drawnCount = 0
    /// What it says, such as answers to queries.
    var answers: [UInt8] = []

    private var main: (cells: [FakeCell], cursor: Cursor)?
    private var state = ParserState.ground
    private var character: [UInt8] = []
    /// Where the last character went, if nothing but characters came since.
    private var last: Int?

    private enum ParserState {
        case ground, escape
        case control([UInt8])
    }

    init(_ size: Size, _ segmentation: Segmentation = .graphemes) {
        self.size = size
        self.segmentation = segmentation
        cells = Array(repeating: FakeCell(), count: size.width * size.height)
    }

    var isCursorShown: Bool { modes[25] ?? true }
    var isAlternate: Bool { main != nil }

    /// As terminals do, it keeps what fits. What was wide and does not is garbage, as in theirs.
    mutating func resize(_ size: Size) {
        var resized = Array(repeating: FakeCell(text: "?"), count: size.width * size.height)
        for row in 0..<min(size.height, self.size.height) {
            for column in 0..<min(size.width, self.size.width) {
                resized[row * size.width + column] = cells[row * self.size.width + column]
            }
        }
        self.size = size
        cells = resized
        cursor = Cursor(
            column: min(cursor.column, size.width - 1), row: min(cursor.row, size.height - 1))
        last = nil
    }

    func text(ofRow row: Int) -> String {
        var text = String(
            cells[row * size.width..<(row + 1) * size.width].filter { !$0.isRight }.map(\.text))
        while text.last == " " { text.removeLast() }
        return text
    }

    var text: String {
        var rows = (0..<size.height).map(text(ofRow:))
        while rows.last?.isEmpty == true { rows.removeLast() }
        return rows.joined(separator: "\n")
    }

    // MARK: - Bytes

    mutating func write(_ bytes: [UInt8]) {
        for byte in bytes { receive(byte) }
    }

    private mutating func receive(_ byte: UInt8) {
        switch state {
        case .ground: receiveInGround(byte)
        case .escape:
            if byte == 0x5B { state = .control([]) } else { fail("ESC", [byte]) }
        case .control(var parameters):
            if 0x40...0x7E ~= byte {
                state = .ground
                perform(parameters, byte)
            } else if 0x20...0x3F ~= byte, parameters.count < 64 {
                parameters.append(byte)
                state = .control(parameters)
            } else {
                fail("CSI", parameters + [byte])
            }
        }
    }

    private mutating func fail(_ what: String, _ bytes: [UInt8]) {
        mistakes.append("\(what) \(String(decoding: bytes, as: UTF8.self))")
        state = .ground
    }

    private mutating func receiveInGround(_ byte: UInt8) {
        if byte >= 0x80 || !character.isEmpty {
            character.append(byte)
            if let scalar = Self.scalar(character) {
                character = []
                draw(scalar)
            } else if character.count > 4 {
                fail("UTF-8", character)
                character = []
            }
            return
        }
        if 0x20..<0x7F ~= byte { return draw(Unicode.Scalar(byte)) }
        last = nil
        switch byte {
        case 0x08:
            if cursor.isWaiting { fail("BS at the end of a row", []) }
            cursor.column = max(cursor.column - 1, 0)
        case 0x0A:
            if cursor.row == size.height - 1 { fail("LF scrolls", []) }
            cursor.row = min(cursor.row + 1, size.height - 1)
        case 0x0D: cursor = Cursor(column: 0, row: cursor.row)
        case 0x1B: state = .escape
        default: fail("control", [byte])
        }
    }

    private static func scalar(_ bytes: [UInt8]) -> Unicode.Scalar? {
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        if case .scalarValue(let scalar) = decoder.decode(&iterator) { return scalar }
        return nil
    }

    // MARK: - Characters

    private mutating func draw(_ scalar: Unicode.Scalar) {
        drawnCount += 1
        if let last, joins(scalar, cells[last].text) {
            let joined = String(cells[last].text) + String(scalar)
            return redraw(joined.first ?? " ", at: last)
        }
        let width = Character(scalar).columnCount
        if width == 0 { return fail("a mark alone", Array(String(scalar).utf8)) }
        if cursor.isWaiting || cursor.column + width > size.width {
            guard modes[7] ?? true else {
                // Over the last cell.
                cursor.column = size.width - width
                cursor.isWaiting = false
                return place(Character(scalar), width)
            }
            if cursor.row == size.height - 1 { fail("scrolls by wrapping", []) }
            cursor = Cursor(column: 0, row: min(cursor.row + 1, size.height - 1))
        }
        place(Character(scalar), width)
    }

    private func joins(_ scalar: Unicode.Scalar, _ text: Character) -> Bool {
        switch segmentation {
        case .graphemes: (String(text) + String(scalar)).count == 1
        case .scalars: Character(scalar).columnCount == 0
        }
    }

    private mutating func place(_ text: Character, _ width: Int) {
        let index = cursor.row * size.width + cursor.column
        set(text, width, at: index)
        last = index
        if cursor.column + width < size.width {
            cursor.column += width
        } else {
            cursor.column = size.width - 1
            cursor.isWaiting = true
        }
    }

    private mutating func set(_ text: Character, _ width: Int, at index: Int) {
        for index in index..<index + width { halve(index) }
        cells[index] = FakeCell(text: text, style: pen)
        if width == 2 { cells[index + 1] = FakeCell(isRight: true, style: pen) }
    }

    /// What was wide at a cell loses both halves.
    private mutating func halve(_ index: Int) {
        if cells[index].isRight, index > 0 { cells[index - 1].text = " " }
        if index + 1 < cells.count, cells[index + 1].isRight { cells[index + 1].isRight = false }
        cells[index].isRight = false
    }

    /// A character has joined the one before: both may be wider together.
    private mutating func redraw(_ text: Character, at index: Int) {
        let isWide = index + 1 < cells.count && cells[index + 1].isRight
        let width = segmentation == .graphemes ? text.columnCount : isWide ? 2 : 1
        guard width == 2, !isWide else {
            cells[index].text = text
            return
        }
        if index % size.width == size.width - 1 { return fail("wide at the end of a row", []) }
        cursor = Cursor(column: index % size.width, row: index / size.width)
        place(text, 2)
    }

    // MARK: - Control sequences

    private mutating func perform(_ parameters: [UInt8], _ final: UInt8) {
        last = nil
        let text = String(decoding: parameters, as: UTF8.self)
        if let first = text.first, "?<>".contains(first) {
            return performPrivate(text, final)
        }
        let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map {
            Int($0) ?? 0
        }
        let count = max(numbers.first ?? 1, 1)
        switch final {
        case UInt8(ascii: "A"): move(row: cursor.row - count)
        case UInt8(ascii: "B"): move(row: cursor.row + count)
        case UInt8(ascii: "C"): move(column: cursor.column + count)
        case UInt8(ascii: "D"): move(column: cursor.column - count)
        case UInt8(ascii: "G"): move(column: count - 1)
        case UInt8(ascii: "H"):
            move(column: max(numbers.count > 1 ? numbers[1] : 1, 1) - 1, row: count - 1)
        case UInt8(ascii: "J") where text == "2":
            for index in cells.indices { erase(index) }
        case UInt8(ascii: "K") where text.isEmpty:
            for column in cursor.column..<size.width { erase(cursor.row * size.width + column) }
        case UInt8(ascii: "m"): changePen(numbers.isEmpty ? [0] : numbers)
        case UInt8(ascii: "c") where text.isEmpty:
            if answersAttributes { answers += Array("\u{1B}[?62;22c".utf8) }
        default: fail("CSI", parameters + [final])
        }
    }

    private mutating func move(column: Int? = nil, row: Int? = nil) {
        let target = (column: column ?? cursor.column, row: row ?? cursor.row)
        if !(0..<size.width ~= target.column && 0..<size.height ~= target.row) {
            fail("moves outside: \(target)", [])
        }
        cursor = Cursor(
            column: min(max(target.column, 0), size.width - 1),
            row: min(max(target.row, 0), size.height - 1))
    }

    private mutating func erase(_ index: Int) {
        halve(index)
        cells[index] = FakeCell(style: Style(background: pen.background))
    }

    private mutating func performPrivate(_ text: String, _ final: UInt8) {
        let number = Int(text.dropFirst().prefix { $0.isNumber }) ?? 0
        switch (text.first, final) {
        case ("?", UInt8(ascii: "h")): setMode(number, true)
        case ("?", UInt8(ascii: "l")): setMode(number, false)
        case ("?", UInt8(ascii: "p")) where text.hasSuffix("$"):
            let state = offeredModes.contains(number) ? (modes[number] ?? false ? 1 : 2) : 0
            answers += Array("\u{1B}[?\(number);\(state)$y".utf8)
        case ("?", UInt8(ascii: "u")):
            if knowsKeyboardProtocol {
                answers += Array("\u{1B}[?\(keyboardFlags.last ?? 0)u".utf8)
            }
        case (">", UInt8(ascii: "u")): keyboardFlags.append(number)
        case ("<", UInt8(ascii: "u")):
            if keyboardFlags.popLast() == nil { fail("pops no flags", []) }
        default: fail("CSI \(text)", [final])
        }
    }

    private mutating func setMode(_ mode: Int, _ isSet: Bool) {
        switch mode {
        case 7, 25, 1000, 1002, 1004, 1006, 2004, 2026, 2027: break
        case 1049 where isSet:
            if main == nil { main = (cells, cursor) }
            for index in cells.indices { erase(index) }
        case 1049:
            if !keyboardFlags.isEmpty { fail("leaves with keyboard flags", []) }
            if let main, main.cells.count == cells.count { (cells, cursor) = main }
            main = nil
        default: return fail("mode", Array("\(mode)".utf8))
        }
        if mode == 2026, isSet, modes[2026] == true { fail("nested frame", []) }
        modes[mode] = isSet
    }

    private mutating func changePen(_ numbers: [Int]) {
        var rest = numbers[...]
        while let number = rest.popFirst() {
            switch number {
            case 0: pen = .plain
            case 1: pen.attributes.insert(.bold)
            case 2: pen.attributes.insert(.dim)
            case 3: pen.attributes.insert(.italic)
            case 4: pen.attributes.insert(.underline)
            case 7: pen.attributes.insert(.inverse)
            case 9: pen.attributes.insert(.strikethrough)
            case 22: pen.attributes.subtract([.bold, .dim])
            case 23: pen.attributes.remove(.italic)
            case 24: pen.attributes.remove(.underline)
            case 27: pen.attributes.remove(.inverse)
            case 29: pen.attributes.remove(.strikethrough)
            case 30...39, 90...97: pen.foreground = color(number, 30, &rest)
            case 40...49, 100...107: pen.background = color(number, 40, &rest)
            default: fail("SGR", Array("\(number)".utf8))
            }
        }
    }

    private mutating func color(_ number: Int, _ base: Int, _ rest: inout ArraySlice<Int>) -> Color
    {
        func part() -> UInt8 { UInt8(clamping: rest.popFirst() ?? 0) }
        switch number - base {
        case 8:
            if part() == 5 { return Color(.palette(part())) }
            return Color(.rgb(part(), part(), part()))
        case 9: return Color(.standard)
        case let place where place < 8: return Color(.palette(UInt8(place)))
        case let place: return Color(.palette(UInt8(place - 60 + 8)))
        }
    }
}
