import RelayJSON
import TerminalUI

/// The longest list in a result, as a table: an element a row, a member a column. Edges are rows of their nodes.
struct ResultTable {
    /// So many columns are shown, each up to so wide.
    private static let columnLimit = 12
    private static let widthLimit = 30
    /// The first rows say which columns there are, and how wide they are.
    private static let measuredLimit = 500

    private let rows: [JSONObject]
    private let columns: [String]
    private let widths: [Int]

    private init(_ elements: [JSONValue]) {
        rows = elements.map(Self.members)
        var columns: [String] = []
        for row in rows.prefix(Self.measuredLimit) {
            for member in row where !columns.contains(member.key) { columns.append(member.key) }
        }
        self.columns = columns
        widths = columns.map { [rows] column in
            rows.prefix(Self.measuredLimit).reduce(column.columnCount) {
                max($0, min(Self.text($1[column]).columnCount, Self.widthLimit))
            }
        }
    }

    /// - Returns: false if there is no list of objects.
    static func add(
        _ value: JSONValue, after old: JSONValue?, unconfirmed: Set<String> = [],
        to lines: inout ResultRows
    ) -> Bool {
        guard let (path, elements) = longestList(in: value) else { return false }
        let table = ResultTable(elements)
        let olds = old.map { list(at: path, in: $0) ?? [] }
        let before = Counterparts(olds ?? [])
        var taken = Counterparts.Taken()

        let hidden = table.columns.count - columnLimit
        let more = hidden > 0 ? ", \(hidden) more columns in the tree" : ""
        lines.add((path.isEmpty ? "the list" : path.joined(separator: " › ")) + more, .heading)
        lines.add(table.pieces { ($0, .heading) })
        for (index, (element, row)) in zip(elements, table.rows).enumerated() {
            let old = before.counterpart(of: element, at: index, &taken).map(members)
            let record = JSONValue.object(row).recordID
            let isUnconfirmed = record.map(unconfirmed.contains) ?? false
            let pieces = table.pieces { column -> (String, ResultRow.Piece.Mark) in
                let isSame = olds == nil || old.map { $0[column] == row[column] } ?? false
                return (
                    text(row[column]), isSame ? (isUnconfirmed ? .unconfirmed : .none) : .changed
                )
            }
            lines.add(pieces, path: path + ["\(index)"], record: record)
        }
        for gone in before.others(than: taken, after: elements.count) {
            let row = members(gone)
            lines.add(
                table.pieces { (text(row[$0]), .removed) }, record: JSONValue.object(row).recordID)
        }
        return true
    }

    private func pieces(
        _ cell: (String) -> (String, ResultRow.Piece.Mark)
    ) -> [ResultRow.Piece] {
        zip(columns, widths).prefix(Self.columnLimit).map { column, width in
            let (text, mark) = cell(column)
            return .init(text: text, mark: mark, width: width)
        }
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text.cut(to: widthLimit)
        case let value?: value.text.cut(to: widthLimit)
        case nil: ""
        }
    }

    /// What the columns are of: an edge has those of its node, and its own.
    private static func members(_ element: JSONValue) -> JSONObject {
        let object = element.object ?? ["value": element]
        guard element["id"] == nil, let node = element["node"]?.object else { return object }
        var members = node
        for member in object where member.key != "node" && members[member.key] == nil {
            members[member.key] = member.value
        }
        return members
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
