import RelayJSON

/// The longest list in a result, as a table: an element a row, a member a column.
struct ResultTable {
    /// So many columns are shown, each up to so wide.
    private static let columnLimit = 12
    private static let widthLimit = 30
    /// The first rows say which columns there are, and how wide they are.
    private static let measuredLimit = 500

    /// - Returns: nil if there is no list of objects.
    static func rows(
        of value: JSONValue, after old: JSONValue?, unconfirmed: Set<String> = []
    ) -> [ResultRow]? {
        guard let (path, elements) = longestList(in: value) else { return nil }
        let rows = elements.map { $0["node"] ?? $0 }
        var columns: [String] = []
        for row in rows.prefix(measuredLimit) {
            for member in row.object ?? [:]
            where !columns.contains(member.key) && columns.count < columnLimit {
                columns.append(member.key)
            }
        }
        let widths = columns.map { column in
            rows.prefix(measuredLimit).reduce(column.count) {
                max($0, min(text($1[column]).count, widthLimit))
            }
        }
        let olds = old.flatMap { list(at: path, in: $0) }
        let before = Dictionary(
            (olds ?? []).enumerated().map { index, element in
                (element.identity ?? "\(index)", element["node"] ?? element)
            }, uniquingKeysWith: { one, _ in one })

        var lines = ResultRows()
        lines.add(path.isEmpty ? "the list" : path.joined(separator: " › "), .heading)
        lines.add(zip(columns, widths).map { .init(text: $0, mark: .heading, width: $1) })
        for (index, (element, row)) in zip(elements, rows).enumerated() {
            let id = row["id"]?.string
            let last = before[element.identity ?? "\(index)"]
            let isUnconfirmed = id.map(unconfirmed.contains) ?? false
            let pieces = zip(columns, widths).map { column, width -> ResultRow.Piece in
                let isSame = olds == nil || last.map { $0[column] == row[column] } ?? false
                return .init(
                    text: text(row[column]),
                    mark: isSame ? (isUnconfirmed ? .unconfirmed : .none) : .changed, width: width)
            }
            lines.add(pieces, record: id)
        }
        return lines.finished
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text.inOneLine
        case let value?: value.text
        case nil: ""
        }
    }

    // MARK: Finding the list

    private static func longestList(in value: JSONValue) -> (path: [String], [JSONValue])? {
        var longest: (path: [String], [JSONValue])?
        func look(_ value: JSONValue, _ path: [String]) {
            switch value {
            case .array(let elements):
                if elements.contains(where: { $0.object != nil }),
                    elements.count > longest?.1.count ?? 0
                {
                    longest = (path, elements)
                }
            case .object(let object):
                for member in object { look(member.value, path + [member.key]) }
            default: break
            }
        }
        look(value, [])
        return longest
    }

    private static func list(at path: [String], in value: JSONValue) -> [JSONValue]? {
        var value: JSONValue? = value
        for name in path { value = value?[name] }
        return value?.array
    }
}

extension String {
    /// In one line, whatever others have written.
    var inOneLine: String {
        contains(where: \.isNewline)
            ? split(whereSeparator: \.isNewline).joined(separator: " ") : self
    }
}
