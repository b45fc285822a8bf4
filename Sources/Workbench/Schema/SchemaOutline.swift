import GraphQLLanguage

/// A schema as lines that can be opened: its root fields first, then its types.
struct SchemaOutline: Sendable {
    /// A line of it.
    struct Row: Identifiable, Hashable, Sendable {
        /// What a line is about.
        enum Subject: Hashable, Sendable {
            /// A heading.
            case group
            /// A field, by its name, of the type with this name.
            case field(String, of: String)
            case type(String)
            /// An argument, an input field, an enum value, or what is said about something.
            case detail
        }

        /// The way to it from the top.
        let id: [String]
        let subject: Subject
        let name: String
        /// What follows the name.
        let rest: String
        let isDeprecated: Bool
        /// Whether there is something in it.
        let canOpen: Bool
        var isOpen = false

        var depth: Int { id.count - 1 }
    }

    let schema: Schema
    private var open: Set<[String]> = []
    /// Only what has this in its name is shown.
    var filter = "" { didSet { rows = makeRows() } }
    private(set) var rows: [Row] = []

    /// More rows than anybody reads are left out, and the last one says so.
    private static let rowLimit = 10_000
    /// A schema goes round in circles.
    private static let depthLimit = 30

    /// - Parameter other: what is open in it and searched for in it is so here.
    init(_ schema: Schema, like other: SchemaOutline? = nil) {
        self.schema = schema
        open = other?.open ?? Set(OperationType.allCases.map { [$0.rawValue] })
        filter = other?.filter ?? ""
        rows = makeRows()
    }

    /// Opens a row that is closed, and closes one that is open.
    mutating func toggle(_ row: Row) {
        guard row.canOpen else { return }
        if open.remove(row.id) == nil { open.insert(row.id) }
        rows = makeRows()
    }

    // MARK: Rows

    private func makeRows() -> [Row] {
        var rows: [Row] = []
        if filter.isEmpty { addRoots(to: &rows) } else { addFound(to: &rows) }
        if rows.count >= Self.rowLimit {
            rows.append(
                Row(
                    id: ["…"], subject: .detail, name: "", rest: "and more: search with /",
                    isDeprecated: false, canOpen: false))
        }
        return rows
    }

    private func addRoots(to rows: inout [Row]) {
        for operation in OperationType.allCases {
            guard let type = schema.rootType(of: operation) else { continue }
            add(
                Row(
                    id: [operation.rawValue], subject: .group, name: operation.rawValue, rest: "",
                    isDeprecated: false, canOpen: !type.fields.isEmpty), to: &rows)
        }
        add(
            Row(
                id: ["types"], subject: .group, name: "types", rest: "", isDeprecated: false,
                canOpen: true), to: &rows)
    }

    private func add(_ row: Row, to rows: inout [Row]) {
        guard rows.count < Self.rowLimit else { return }
        var row = row
        row.isOpen = row.canOpen && open.contains(row.id) && row.id.count < Self.depthLimit
        rows.append(row)
        if row.isOpen { for inner in self.rows(in: row) { add(inner, to: &rows) } }
    }

    private func rows(in row: Row) -> [Row] {
        switch row.subject {
        case .group:
            if let operation = OperationType(rawValue: row.name),
                let root = schema.rootType(of: operation)
            {
                return root.fields.map { self.row($0, of: root, in: row.id) }
            }
            return visibleTypes.map { self.row($0, in: row.id) }
        case .field(let name, let type):
            guard let field = schema.type(named: type)?.field(name) else { return [] }
            return described(field.description, in: row.id)
                + described(field.deprecationReason.map { "deprecated: \($0)" }, in: row.id)
                + field.arguments.map { self.row($0, in: row.id) }
                + rows(of: schema[field.namedType], in: row.id)
        case .type(let name):
            guard let type = schema.type(named: name) else { return [] }
            return described(type.description, in: row.id) + rows(of: type, in: row.id)
        case .detail: return []
        }
    }

    /// What a value of a type has.
    private func rows(of type: NamedType, in path: [String]) -> [Row] {
        type.fields.map { row($0, of: type, in: path) }
            + schema.possibleTypesShown(of: type).map { row($0, in: path) }
            + type.inputFields.map { row($0, in: path) }
            + type.values.map { value in
                Row(
                    id: path + ["=" + value.name], subject: .detail, name: value.name,
                    rest: value.description.map { "  \($0)" } ?? "",
                    isDeprecated: value.deprecationReason != nil, canOpen: false)
            }
    }

    private func row(
        _ field: SchemaField, of type: NamedType, in path: [String], called name: String? = nil
    ) -> Row {
        let arguments = field.arguments.map(\.name).joined(separator: ", ")
        let target = schema[field.namedType]
        return Row(
            id: path + [name ?? field.name], subject: .field(field.name, of: type.name),
            name: name ?? field.name,
            rest: (arguments.isEmpty ? "" : "(\(arguments))") + ": \(schema.print(field.type))",
            isDeprecated: field.deprecationReason != nil,
            canOpen: !field.arguments.isEmpty || field.description != nil || target.hasContent)
    }

    private func row(_ input: SchemaInputValue, in path: [String]) -> Row {
        let standard = input.defaultValue.map { " = \($0.printed())" } ?? ""
        let about = input.description.map { "  \($0)" } ?? ""
        return Row(
            id: path + ["(\(input.name)"], subject: .detail, name: input.name,
            rest: ": \(schema.print(input.type))\(standard)\(about)",
            isDeprecated: input.deprecationReason != nil, canOpen: false)
    }

    private func row(_ type: NamedType, in path: [String]) -> Row {
        Row(
            id: path + ["<" + type.name], subject: .type(type.name), name: type.name,
            rest: "  \(type.kind.words)", isDeprecated: false,
            canOpen: type.hasContent || type.description != nil)
    }

    private func described(_ text: String?, in path: [String]) -> [Row] {
        guard let text else { return [] }
        return [
            Row(
                id: path + ["#\(text)"], subject: .detail, name: "", rest: text,
                isDeprecated: false, canOpen: false)
        ]
    }

    private var visibleTypes: [NamedType] {
        schema.types.filter { !schema.isHidden($0.id) && !$0.name.hasPrefix("__") }
    }

    // MARK: Searching

    private func addFound(to rows: inout [Row]) {
        let filter = filter.lowercased()
        for type in visibleTypes where rows.count < Self.rowLimit {
            if type.name.lowercased().contains(filter) { add(row(type, in: []), to: &rows) }
            for field in type.fields where field.name.lowercased().contains(filter) {
                let name = "\(type.name).\(field.name)"
                add(row(field, of: type, in: [], called: name), to: &rows)
            }
        }
    }
}

extension NamedType {
    fileprivate var hasContent: Bool {
        !fields.isEmpty || !inputFields.isEmpty || !values.isEmpty || kind.isAbstract
    }
}

extension Schema {
    fileprivate func possibleTypesShown(of type: NamedType) -> [NamedType] {
        type.kind.isAbstract ? possibleTypes(of: type.id).map { self[$0] } : []
    }
}
