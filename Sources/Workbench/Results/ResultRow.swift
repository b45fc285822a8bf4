/// A line that shows a part of a result.
struct ResultRow: Identifiable, Hashable, Sendable {
    /// A piece of it.
    struct Piece: Hashable, Sendable {
        enum Mark: Hashable, Sendable {
            case none
            /// It differs from the result before.
            case changed
            /// It was in the result before.
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
    /// The id of the object that it belongs to.
    var record: String?
}

/// Collects rows up to as many as anybody reads.
struct ResultRows {
    private(set) var rows: [ResultRow] = []
    private var moreCount = 0

    static let limit = 5_000

    mutating func add(_ pieces: [ResultRow.Piece], record: String? = nil) {
        if rows.count >= Self.limit { return moreCount += 1 }
        rows.append(ResultRow(id: rows.count, pieces: pieces, record: record))
    }

    mutating func add(_ text: String, _ mark: ResultRow.Piece.Mark = .none) {
        add([.init(text: text, mark: mark)])
    }

    mutating func add(_ rows: [ResultRow]) {
        for row in rows { add(row.pieces, record: row.record) }
    }

    /// All of them, and how many there would be more.
    var finished: [ResultRow] {
        if moreCount == 0 { return rows }
        return rows + [
            ResultRow(id: rows.count, pieces: [.init(text: "and \(moreCount) more lines")])
        ]
    }
}
