/// Where the text of a ``Source`` is in the file that it was taken from: in a literal of a Swift file, say.
package struct SourceOrigin: Sendable {
    /// Bytes of the text and where they come from. A run ends where the next one begins.
    package struct Run: Hashable, Sendable {
        /// The offset of its first byte in the text.
        package let text: Int
        /// The offset in the file that this byte comes from.
        package let file: Int
        /// Whether the bytes are the file's own; those of an escape sequence all come from its beginning.
        package let isCopy: Bool

        package init(text: Int, file: Int, isCopy: Bool) {
            self.text = text
            self.file = file
            self.isCopy = isCopy
        }
    }

    /// The whole file.
    package let file: Source
    private let runs: [Run]

    /// - Parameter runs: in the order of the text. The first begins at 0; the last is good for the text's end, too.
    package init(file: Source, runs: [Run]) {
        precondition(runs.first?.text == 0, "A text comes from somewhere from its first byte on.")
        self.file = file
        self.runs = runs
    }

    /// Line and column in the file of a byte of the text.
    func location(of offset: Int) -> SourceLocation {
        var low = 0
        var high = runs.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].text <= offset { low = middle } else { high = middle }
        }
        let run = runs[low]
        return file.location(at: file.base + run.file + (run.isCopy ? offset - run.text : 0))
    }
}

extension Source {
    /// The file that lines and columns are counted in: that of the origin, or else the document itself.
    package var file: Source { origin?.file ?? self }
}
