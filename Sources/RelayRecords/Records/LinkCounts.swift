import HashTreeCollections
package import RelayJSON

/// How many links of a field lead to a record that matches: the value of `@count`, updated link by link
/// instead of being counted.
package struct CountDefinition: Hashable, Sendable {
    /// The type of the records that have the field.
    package let type: String
    package let field: String
    /// Values that leaf fields of the linked record must have.
    package let conditions: [Condition]

    package struct Condition: Hashable, Sendable {
        package let key: String
        package let value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    package init(type: String, field: String, conditions: [Condition]) {
        self.type = type
        self.field = field
        self.conditions = conditions
    }

    /// The name under which a change of the count is noted, like that of a field; no field has this name.
    package var name: String {
        let conditions = conditions.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ")
        return "@count(\(type).\(field), {\(conditions)})"
    }
}

/// One count of all records of a type.
struct LinkCount: Sendable {
    let type: NameIndex
    let key: NameIndex
    let name: NameIndex
    private let conditions: [(key: NameIndex, value: JSONValue)]
    private(set) var counts: TreeDictionary<RecordIndex, Int> = [:]

    init(_ definition: CountDefinition, _ symbols: Symbols) {
        type = symbols.name(definition.type)
        key = symbols.name(definition.field)
        name = symbols.name(definition.name)
        conditions = definition.conditions.map { (symbols.name($0.key), $0.value) }
    }

    /// Whether a linked record counts; nil is one that does not exist.
    func matches(_ row: Row?) -> Bool {
        guard let row else { return false }
        return conditions.allSatisfy { row.holds($0.value, under: $0.key) }
    }

    mutating func add(_ number: Int, to owner: RecordIndex) {
        let count = counts[owner, default: 0] + number
        counts[owner] = count == 0 ? nil : count
    }
}

extension Row {
    /// Whether a field has this value; a field that was never set is null.
    package func holds(_ value: JSONValue, under key: NameIndex) -> Bool {
        guard let slot = slot(of: key) else { return value == .null }
        switch (tag(slot), value) {
        case (.null, .null), (.true, .bool(true)), (.false, .bool(false)): return true
        case (.int, .int(let number)): return int(slot) == number
        case (.double, .double(let number)): return double(slot) == number
        case (.int, .double(let number)): return Double(int(slot)) == number
        case (.double, .int(let number)): return double(slot) == Double(number)
        case (.string, .string(let text)):
            return withText(slot) { $0.elementsEqual(text.utf8) }
        case (.json, _):
            return withText(slot) { try? JSONValue(parsing: $0) } == value
        default: return false
        }
    }
}
