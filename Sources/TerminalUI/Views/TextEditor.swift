/// Lines of text that people write.
public struct TextEditor: PrimitiveView {
    private let text: Binding<String>
    private let edited: Binding<EditedText>?

    /// - Parameter text: what is written.
    public init(text: Binding<String>) {
        self.text = text
        edited = nil
    }

    /// For those who look at the caret, too.
    package init(_ edited: Binding<EditedText>) {
        text = Binding(
            get: { edited.wrappedValue.text }, set: { edited.wrappedValue.text = $0 })
        self.edited = edited
    }

    package func makeNode(_ context: ViewContext) -> TextEditorNode { TextEditorNode(context) }

    package func update(_ node: TextEditorNode, _ context: ViewContext) {
        node.text = text
        node.edited = edited
    }
}

package final class TextEditorNode: TextInputNode {
    /// The line and the column that are at the top left.
    private var scrolled = Position.zero
    /// The column to which Up and Down go back after shorter lines.
    private var column: Int?

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        Size(width: max(proposal.width ?? 40, 1), height: max(proposal.height ?? 5, 1))
    }

    private var lines: [Substring] {
        text.wrappedValue.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    /// The line in which the caret is, and its place there in characters.
    private func place(_ lines: [Substring]) -> (line: Int, offset: Int) {
        var offset = caretOffset
        for (number, line) in lines.enumerated() {
            if offset <= line.count { return (number, offset) }
            offset -= line.count + 1
        }
        return (max(lines.count - 1, 0), lines.last?.count ?? 0)
    }

    package override func handle(_ key: KeyPress) -> Bool {
        guard environment.isEnabled else { return false }
        let page = max(frame.size.height - 1, 1)
        let step: Int? =
            switch (key.key, key.modifiers) {
            case (.up, []): -1
            case (.down, []): 1
            case (.pageUp, []): -page
            case (.pageDown, []): page
            default: nil
            }
        if let step { return move(lines: step) }
        column = nil
        if key == KeyPress(.enter) {
            return edit {
                $0.insert("\n")
                return true
            }
        }
        return edit { $0.handle(key) }
    }

    private func move(lines count: Int) -> Bool {
        let lines = lines
        let (line, offset) = place(lines)
        let target = min(max(line + count, 0), lines.count - 1)
        // At the first and the last line, the key is for somebody else.
        if target == line { return false }
        let wanted = column ?? lines[line].prefix(offset).columnCount
        var (reached, characters) = (0, 0)
        for character in lines[target] {
            if reached + character.columnCount > wanted { break }
            reached += character.columnCount
            characters += 1
        }
        let before = lines[..<target].reduce(0) { $0 + $1.count + 1 }
        column = wanted
        return edit {
            $0.move(to: before + characters)
            return true
        }
    }

    package override func handle(pasted text: String) -> Bool {
        guard environment.isEnabled else { return false }
        column = nil
        return edit {
            $0.insert(text.replacing("\r\n", with: "\n").replacing("\r", with: "\n"))
            return true
        }
    }

    package override var cursor: Position? {
        let lines = lines
        let (line, offset) = place(lines)
        let column = lines.isEmpty ? 0 : lines[line].prefix(offset).columnCount
        return Position(
            column: frame.origin.column + column - scrolled.column,
            row: frame.origin.row + line - scrolled.row)
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        let clip = frame.intersection(clip)
        let lines = lines
        let (line, offset) = place(lines)
        let column = lines.isEmpty ? 0 : lines[line].prefix(offset).columnCount
        scrolled.row = min(max(scrolled.row, line - frame.size.height + 1), line)
        scrolled.column = min(max(scrolled.column, column - frame.size.width + 1), column)
        let style = environment.drawnStyle
        for row in 0..<frame.size.height where scrolled.row + row < lines.count {
            let place = Position(
                column: frame.origin.column - scrolled.column, row: frame.origin.row + row)
            buffer.write(lines[scrolled.row + row], at: place, style: style, clip: clip)
        }
    }
}
