/// A line of text that people write.
public struct TextField: PrimitiveView {
    private let prompt: String
    private let text: Binding<String>
    private let commit: @MainActor () -> Void

    /// - Parameters:
    ///   - prompt: what is shown as long as there is no text.
    ///   - text: what is written.
    ///   - onCommit: done when Enter is pressed.
    public init(
        _ prompt: some StringProtocol, text: Binding<String>,
        onCommit: @escaping @MainActor () -> Void = {}
    ) {
        self.prompt = String(prompt)
        self.text = text
        commit = onCommit
    }

    package func makeNode(_ context: ViewContext) -> TextFieldNode { TextFieldNode(context) }

    package func update(_ node: TextFieldNode, _ context: ViewContext) {
        node.update(prompt, text, commit)
    }
}

package final class TextFieldNode: TextInputNode {
    private var prompt = ""
    private var commit: @MainActor () -> Void = {}
    /// The column of the text that is at the left edge.
    private var scrolled = 0

    func update(
        _ prompt: String, _ text: Binding<String>, _ commit: @escaping @MainActor () -> Void
    ) {
        self.prompt = prompt
        self.text = text
        self.commit = commit
    }

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        Size(width: max(proposal.width ?? 20, 1), height: 1)
    }

    package override func handle(_ key: KeyPress) -> Bool {
        guard environment.isEnabled else { return false }
        if key == KeyPress(.enter) {
            commit()
            return true
        }
        return edit { $0.handle(key) }
    }

    package override func handle(pasted text: String) -> Bool {
        guard environment.isEnabled else { return false }
        return edit {
            // It has one line.
            $0.insert(text.split(whereSeparator: \.isNewline).joined(separator: " "))
            return true
        }
    }

    private var caretColumn: Int {
        text.wrappedValue.prefix(caretOffset).columnCount
    }

    package override var cursor: Position? {
        Position(column: frame.origin.column + caretColumn - scrolled, row: frame.origin.row)
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        let clip = frame.intersection(clip)
        var style = environment.drawnStyle
        style.attributes.insert(.underline)
        buffer.fill(clip, style: style)
        let value = text.wrappedValue
        if value.isEmpty {
            style.attributes.insert(.dim)
            buffer.write(prompt, at: frame.origin, style: style, clip: clip)
            scrolled = 0
            return
        }
        // The caret needs a column of its own behind the text.
        let column = caretColumn
        scrolled = min(max(scrolled, column - frame.size.width + 1), column)
        let place = Position(column: frame.origin.column - scrolled, row: frame.origin.row)
        buffer.write(value, at: place, style: style, clip: clip)
    }
}

/// The node of a view in which people write.
package class TextInputNode: ViewNode {
    final var text: Binding<String> = .constant("")
    /// The text and the caret, if somebody else keeps both.
    final var edited: Binding<EditedText>?
    /// Nil until something was written: at the end.
    private var ownCaret: Int?

    /// The caret's place in the text as it is now, in characters.
    final var caretOffset: Int {
        let count = text.wrappedValue.count
        return min(max(edited?.wrappedValue.caret ?? ownCaret ?? count, 0), count)
    }

    package final override var isControl: Bool { true }

    final func edit(_ change: (inout TextCaret) -> Bool) -> Bool {
        var caret = TextCaret(at: caretOffset)
        caret.text = text.wrappedValue
        guard change(&caret) else { return false }
        ownCaret = caret.offset
        if let edited {
            edited.wrappedValue = EditedText(text: caret.text, caret: caret.offset)
        } else if text.wrappedValue != caret.text {
            text.wrappedValue = caret.text
        }
        graph.needsFrame()
        return true
    }
}

/// A text that somebody writes, and where.
package struct EditedText: Equatable, Sendable {
    package var text: String
    /// Where the next character will be, in characters from the beginning.
    package var caret: Int

    package init(text: String, caret: Int) {
        self.text = text
        self.caret = caret
    }
}

extension StringProtocol {
    /// How many columns a line has.
    package var columnCount: Int { reduce(0) { $0 + $1.columnCount } }
}

/// A place in a text, and what keys do there.
struct TextCaret: Equatable {
    var text = ""
    /// In characters from the beginning.
    private(set) var offset: Int

    init(at offset: Int) { self.offset = offset }

    private var index: String.Index {
        text.index(text.startIndex, offsetBy: offset, limitedBy: text.endIndex) ?? text.endIndex
    }

    mutating func insert(_ inserted: some StringProtocol) {
        let index = index
        let isAtEnd = index == text.endIndex
        let before = text.count
        text.insert(contentsOf: inserted, at: index)
        // What is inserted may join with what is before it.
        offset = isAtEnd ? text.count : min(offset, before) + text.count - before
    }

    mutating func move(to offset: Int) { self.offset = min(max(offset, 0), text.count) }

    private mutating func remove(_ range: Range<String.Index>) {
        text.removeSubrange(range)
        move(to: offset)
    }

    /// - Returns: false for a key that is not about writing.
    mutating func handle(_ key: KeyPress) -> Bool {
        switch (key.key, key.modifiers) {
        case (.character(let character), []): insert(String(character))
        case (.left, []), (.character("b"), .control): move(to: offset - 1)
        case (.right, []), (.character("f"), .control): move(to: offset + 1)
        case (.home, []), (.character("a"), .control): move(to: lineStart)
        case (.end, []), (.character("e"), .control): move(to: lineEnd)
        case (.left, .control), (.left, .alt), (.character("b"), .alt): move(to: wordStart)
        case (.right, .control), (.right, .alt), (.character("f"), .alt): move(to: wordEnd)
        case (.backspace, []): removeBack(to: offset - 1)
        case (.delete, []), (.character("d"), .control):
            if index < text.endIndex { remove(index..<text.index(after: index)) }
        case (.character("w"), .control), (.backspace, .alt): removeBack(to: wordStart)
        case (.character("u"), .control): removeBack(to: lineStart)
        case (.character("k"), .control):
            let end = text.index(text.startIndex, offsetBy: lineEnd)
            remove(index..<end)
        default: return false
        }
        return true
    }

    private mutating func removeBack(to start: Int) {
        guard start >= 0, start < offset else { return }
        let range = text.index(text.startIndex, offsetBy: start)..<index
        offset = start
        remove(range)
    }

    private var wordStart: Int {
        let before = text[..<index]
        let trimmed = before.reversed().drop { !$0.isLetter && !$0.isNumber }
        return trimmed.drop { $0.isLetter || $0.isNumber }.count
    }

    private var wordEnd: Int {
        let rest = text[index...].drop { !$0.isLetter && !$0.isNumber }
        return text.count - rest.drop { $0.isLetter || $0.isNumber }.count
    }

    /// Where the line begins in which it is.
    var lineStart: Int {
        text[..<index].reversed().firstIndex(where: \.isNewline).map {
            text.distance(from: text.startIndex, to: $0.base)
        } ?? 0
    }

    /// Where that line ends.
    var lineEnd: Int {
        let end = text[index...].firstIndex(where: \.isNewline) ?? text.endIndex
        return text.distance(from: text.startIndex, to: end)
    }
}
