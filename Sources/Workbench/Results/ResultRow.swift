import RelayJSON

/// A line that shows a part of a result.
struct ResultRow: Identifiable, Hashable, Sendable {
    /// A piece of it.
    struct Piece: Hashable, Sendable {
        enum Mark: Hashable, Sendable {
            case none
            /// It differs from the result before.
            case changed
            /// It was in the result before; or it is an error.
            case removed
            /// It is not confirmed.
            case unconfirmed
            case heading
        }

        var text: String
        var mark = Mark.none
        /// In columns; nil: as wide as the text.
        var width: Int?
    }

    let id: Int
    var pieces: [Piece]
    /// Which value of the result it shows; nil if none.
    var path: [String]?
    /// The id of the object that it belongs to.
    var record: String?
}

/// Collects rows up to as many as anybody reads.
struct ResultRows: Sendable {
    private var rows: [ResultRow] = []
    private var moreCount = 0
    private var moreCharacters = 0

    static let limit = 5_000
    /// So much of a text is shown in a row, in characters.
    static let textLimit = 300

    mutating func add(
        _ pieces: [ResultRow.Piece], path: [String]? = nil, record: String? = nil
    ) {
        if rows.count >= Self.limit { return moreCount += 1 }
        let pieces = pieces.map { piece in
            var piece = piece
            // What cannot be seen is written as JSON does.
            piece.text = piece.text.cut(to: Self.textLimit).inOneLine.printable
            return piece
        }
        rows.append(ResultRow(id: rows.count, pieces: pieces, path: path, record: record))
    }

    mutating func add(_ text: String, _ mark: ResultRow.Piece.Mark = .none) {
        add([.init(text: text, mark: mark)])
    }

    /// All of a text, in as many rows as it takes.
    mutating func add(whole text: String, _ mark: ResultRow.Piece.Mark = .none) {
        var rest = text[...]
        repeat {
            if rows.count >= Self.limit { return moreCharacters += rest.utf8.count }
            let line = rest.prefix(Self.textLimit).prefix { !$0.isNewline }
            add(String(line), mark)
            rest = rest[line.endIndex...]
            if rest.first?.isNewline == true { rest = rest.dropFirst() }
        } while !rest.isEmpty
    }

    /// All of them, and how much there would be more.
    var finished: [ResultRow] {
        let more = [
            moreCharacters > 0 ? "\(moreCharacters) more bytes of text" : nil,
            moreCount > 0 ? "\(moreCount) more lines" : nil,
        ].compactMap(\.self)
        if more.isEmpty { return rows }
        let text = "and " + more.joined(separator: ", ")
        return rows + [
            ResultRow(id: rows.count, pieces: [.init(text: text, mark: .unconfirmed)])
        ]
    }
}

extension String {
    /// In one line, whatever others have written.
    var inOneLine: String {
        contains(where: \.isNewline)
            ? split(whereSeparator: \.isNewline).joined(separator: " ") : self
    }

    /// Its beginning, with "…" if there is more.
    func cut(to count: Int) -> String {
        guard let end = index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex
        else { return self }
        return self[..<end] + "…"
    }
}
