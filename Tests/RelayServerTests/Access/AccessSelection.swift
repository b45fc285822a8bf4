import RelayJSON

/// A field that a generated query selects.
struct AccessSelection {
    var alias: String?
    let name: String
    /// The type that it belongs to.
    let type: String
    var arguments: [(String, JSONValue)] = []
    /// What is selected in it, by the type of its records.
    var children: [String: [AccessSelection]] = [:]
    var isConnection = false

    init(
        name: String, type: String, arguments: [(String, JSONValue)] = [],
        children: [String: [AccessSelection]] = [:], isConnection: Bool = false
    ) {
        self.name = name
        self.type = type
        self.arguments = arguments
        self.children = children
        self.isConnection = isConnection
    }

    var key: String { alias ?? name }

    /// As GraphQL.
    var text: String {
        let arguments =
            arguments.isEmpty
            ? "" : "(" + arguments.map { "\($0): \($1.text)" }.joined(separator: ", ") + ")"
        return (alias.map { "\($0): " } ?? "") + name + arguments + body
    }

    private var body: String {
        if children.isEmpty { return "" }
        let inner: String
        if children.count == 1, let only = children.values.first {
            inner = only.map(\.text).joined(separator: " ")
        } else {
            inner =
                "__typename id "
                + children.sorted { $0.key < $1.key }.map { type, fields in
                    "... on \(type) { \(fields.map(\.text).joined(separator: " ")) }"
                }.joined(separator: " ")
        }
        return isConnection
            ? " { edges { cursor node { \(inner) } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }"
            : " { \(inner) }"
    }

    // MARK: What is expected

    /// What an open server answers, changed to what is expected of one with rules: hidden fields are errors.
    struct Expectation {
        let isHidden: (_ record: String, _ field: String) -> Bool
        let isViewer: Bool
        var errors: [JSONValue] = []

        mutating func record(
            _ value: JSONValue, _ children: [String: [AccessSelection]], _ path: [JSONValue]
        ) -> JSONValue {
            guard let object = value.object, let id = object["id"]?.string else { return value }
            let type = object["__typename"]?.string ?? children.keys.first ?? ""
            return fields(object, children[type] ?? [], path, of: (id, type))
        }

        mutating func fields(
            _ object: JSONObject, _ selections: [AccessSelection], _ path: [JSONValue],
            of record: (id: String, type: String)?
        ) -> JSONValue {
            var members = object.members.map { ($0.key, $0.value) }
            for selection in selections {
                guard let place = members.firstIndex(where: { $0.0 == selection.key }) else {
                    continue
                }
                let path = path + [.string(selection.key)]
                if let record, isHidden(record.id, selection.name) {
                    members[place].1 = .null
                    errors.append([
                        "message": .string("Access to \(record.type).\(selection.name) is denied."),
                        "path": .array(path),
                        "code": isViewer ? "FORBIDDEN" : "UNAUTHENTICATED",
                    ])
                } else {
                    members[place].1 = content(members[place].1, selection, path)
                }
            }
            return .object(JSONObject(members))
        }

        private mutating func content(
            _ value: JSONValue, _ selection: AccessSelection, _ path: [JSONValue]
        ) -> JSONValue {
            if selection.children.isEmpty { return value }
            if selection.isConnection {
                guard var edges = value["edges"]?.array else { return value }
                for index in edges.indices {
                    let path = path + ["edges", .int(Int64(index)), "node"]
                    edges[index] = [
                        "node": record(edges[index]["node"] ?? .null, selection.children, path)
                    ]
                }
                let page = value["pageInfo"]
                return [
                    "edges": .array(edges),
                    "pageInfo": [
                        "hasNextPage": page?["hasNextPage"] ?? "none",
                        "hasPreviousPage": page?["hasPreviousPage"] ?? "none",
                    ],
                ]
            }
            guard let elements = value.array else {
                return record(value, selection.children, path)
            }
            return .array(
                elements.enumerated().map {
                    record($0.element, selection.children, path + [.int(Int64($0.offset))])
                })
        }
    }
}

/// A mutation that a generated schema has.
struct AccessMutation {
    /// `add`, `set`, `del`, `put` or `cut`.
    let kind: String
    let type: String
    let input: [(String, JSONValue)]

    var name: String { kind + type }

    func text(selecting fields: [AccessSelection]) -> String {
        let input = input.map { "\($0): \($1.text)" }.joined(separator: ", ")
        let payload =
            kind == "del"
            ? "deletedId" : "record { \(fields.map(\.text).joined(separator: " ")) }"
        return "\(name)(input: { \(input) }) { \(payload) }"
    }

    func given(_ name: String) -> JSONValue? { input.first { $0.0 == name }?.1 }
}
