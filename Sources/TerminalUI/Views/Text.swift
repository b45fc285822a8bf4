/// Lines of text. What is too wide is wrapped between words; what is too high ends in "…".
public struct Text: PrimitiveView, Equatable {
    private let content: String

    /// - Parameter content: the text. Control characters in it are not shown, and do nothing to the terminal.
    public init(_ content: some StringProtocol) { self.content = String(content) }

    package func makeNode(_ context: ViewContext) -> TextNode { TextNode(context) }
    package func update(_ node: TextNode, _ context: ViewContext) { node.text = content }

    nonisolated public static func == (one: Text, other: Text) -> Bool {
        one.content == other.content
    }
}

/// A picture by its name, as a symbol of one or two columns. Names that are not known are shown as "◻".
public struct Image: PrimitiveView, Equatable {
    private let symbol: String

    /// - Parameter systemName: the name of an SF Symbol. Those that have a symbol here are in ``Image/symbols``.
    public init(systemName: String) { symbol = Self.symbols[systemName] ?? "◻" }

    package func makeNode(_ context: ViewContext) -> TextNode { TextNode(context) }
    package func update(_ node: TextNode, _ context: ViewContext) { node.text = symbol }

    nonisolated public static func == (one: Image, other: Image) -> Bool {
        one.symbol == other.symbol
    }

    /// What is shown for the names that are known.
    nonisolated public static let symbols: [String: String] = [
        "checkmark": "✓", "checkmark.square": "☑", "checkmark.square.fill": "☑", "square": "☐",
        "checkmark.circle": "◉", "checkmark.circle.fill": "◉", "circle": "○", "circle.fill": "●",
        "xmark": "✗", "xmark.circle": "⊗", "plus": "+", "plus.circle": "⊕", "minus": "−",
        "minus.circle": "⊖", "trash": "⌫", "pencil": "✎", "magnifyingglass": "⌕",
        "arrow.up": "↑", "arrow.down": "↓", "arrow.left": "←", "arrow.right": "→",
        "arrow.clockwise": "↻", "arrow.counterclockwise": "↺", "arrow.up.arrow.down": "⇅",
        "chevron.up": "⌃", "chevron.down": "⌄", "chevron.left": "‹", "chevron.right": "›",
        "star": "☆", "star.fill": "★", "heart": "♡", "heart.fill": "♥", "flag": "⚐",
        "flag.fill": "⚑", "bell": "♪", "gear": "⚙", "gearshape": "⚙", "person": "☺",
        "info.circle": "ⓘ", "exclamationmark.triangle": "⚠", "questionmark.circle": "?",
        "wifi": "≋", "wifi.slash": "≉", "clock": "◷", "ellipsis": "…", "lock": "⚿",
    ]
}

package final class TextNode: ViewNode {
    var text = "" {
        didSet {
            guard text != oldValue else { return }
            wrapped = [:]
            invalidateLayout()
        }
    }
    /// How many characters were wrapped so far; for tests.
    static var wrappedCount = 0
    /// Its lines for a width, up to a number of them.
    private var wrapped: [Wrapping: [Line]] = [:]

    private struct Wrapping: Hashable {
        let width: Int
        let limit: Int?
    }

    private struct Line {
        let text: Substring
        let width: Int
    }

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        // Stacks ask how little it can do with.
        if let width = proposal.width, width <= 0 { return Size(width: 0, height: 1) }
        let lines = lines(width: proposal.width ?? Proposal.unbounded, limit: proposal.height)
        let height = min(lines.count, max(proposal.height ?? lines.count, 1))
        let width = lines.reduce(0) { max($0, $1.width) }
        // What is cut goes on to the edge.
        if height < lines.count { return Size(width: proposal.width ?? width, height: height) }
        return Size(width: min(width, proposal.width ?? width), height: height)
    }

    /// - Parameter limit: how many lines there is room for: it is known of one more whether there are more.
    private func lines(width: Int, limit: Int?) -> [Line] {
        let wrapping = Wrapping(width: max(width, 1), limit: limit.map { max($0, 1) + 1 })
        if let known = wrapped[wrapping] { return known }
        var lines: [Line] = []
        var rest = text[...]
        while true {
            let end = rest.firstIndex(where: \.isNewline)
            let left = wrapping.limit.map { $0 - lines.count }
            lines += Self.wrap(rest[..<(end ?? rest.endIndex)], wrapping.width, limit: left)
            guard let end, lines.count < wrapping.limit ?? .max else { break }
            rest = rest[rest.index(after: end)...]
        }
        if wrapped.count >= 8 { wrapped = [:] }
        wrapped[wrapping] = lines
        return lines
    }

    private static func wrap(_ line: Substring, _ width: Int, limit: Int?) -> [Line] {
        var lines: [Line] = []
        var start = line.startIndex
        var column = 0
        /// After the last space, from where the next line would begin.
        var word: (index: Substring.Index, column: Int, end: Substring.Index, endColumn: Int)?
        var index = start
        while index < line.endIndex {
            if let limit, lines.count >= limit { return lines }
            let character = line[index]
            let count = character.columnCount
            wrappedCount += 1
            if column + count > width, index > start {
                if let word, word.index > start, character != " " {
                    lines.append(Line(text: line[start..<word.end], width: word.endColumn))
                    column -= word.column
                    start = word.index
                } else if character == " " {
                    lines.append(Line(text: line[start..<index], width: column))
                    start = line[index...].firstIndex { $0 != " " } ?? line.endIndex
                    index = start
                    column = 0
                    word = nil
                    if start == line.endIndex { return lines }
                    continue
                } else {
                    lines.append(Line(text: line[start..<index], width: column))
                    start = index
                    column = 0
                }
                word = nil
                continue
            }
            let next = line.index(after: index)
            if character == " " {
                let isRun = word?.index == index
                word = (
                    next, column + count, isRun ? word!.end : index,
                    isRun ? word!.endColumn : column
                )
            }
            column += count
            index = next
        }
        lines.append(Line(text: line[start...], width: column))
        return lines
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        let lines = lines(width: frame.size.width, limit: frame.size.height)
        let room = frame.intersection(clip)
        if room.isEmpty { return }
        let style = environment.drawnStyle
        for (index, line) in lines.prefix(frame.size.height).enumerated() {
            let row = frame.origin.row + index
            guard room.rows.contains(row) else { continue }
            let isCut =
                index == frame.size.height - 1 && lines.count > frame.size.height
                || line.width > frame.size.width
            let place = Position(column: frame.origin.column, row: row)
            if isCut, frame.size.width > 0 {
                write(cut: line, at: place, style, room, into: &buffer)
            } else {
                buffer.write(line.text, at: place, style: style, clip: room)
            }
        }
    }

    /// A line that goes on, and does not fit.
    private func write(
        cut line: Line, at place: Position, _ style: Style, _ room: Rect,
        into buffer: inout CellBuffer
    ) {
        // Also what would be on the next line.
        let whole = text[line.text.startIndex...].prefix { !$0.isNewline }
        var end = whole.startIndex
        var column = 0
        while end < whole.endIndex {
            let count = whole[end].columnCount
            if column + count > frame.size.width - 1 { break }
            column += count
            end = whole.index(after: end)
        }
        buffer.write(whole[..<end], at: place, style: style, clip: room)
        let rest = Position(column: place.column + column, row: place.row)
        buffer.write("…", at: rest, style: style, clip: room)
    }
}

extension EnvironmentValues {
    /// The style of text, dim where controls can't be used.
    var drawnStyle: Style {
        var style = style
        if !isEnabled { style.attributes.insert(.dim) }
        return style
    }
}
