import RelayJSON

/// A store and the rules of its schema in the plainest form, by which a test decides for itself what a viewer sees. It
/// shares nothing with the code under test but JSON.
struct AccessModel {
    enum Value {
        case leaf(JSONValue)
        case link(String)
        case links([String])
    }

    struct Record {
        let id: String
        let type: String
        var fields: [String: Value]
    }

    /// The rules of a schema, as JSON.
    struct Rules {
        var isOpenByDefault = false
        /// By type and action.
        var types: [String: [String: JSONValue]] = [:]
        /// By `Type.field`.
        var fields: [String: JSONValue] = [:]
        /// By mutation.
        var mutations: [String: JSONValue] = [:]

        func rule(_ action: String, of type: String) -> JSONValue {
            guard let stated = types[type] else { return isOpenByDefault ? Self.open : Self.closed }
            return stated[action] ?? Self.closed
        }

        static let open: JSONValue = ["all": []]
        static let closed: JSONValue = ["any": []]
    }

    /// Somebody; without an id nobody.
    struct Person {
        var id: String?
        var claims: [String: JSONValue] = [:]
    }

    /// In the order of their creation.
    var records: [Record] = []

    func record(_ id: String) -> Record? { records.first { $0.id == id } }

    // MARK: Rules

    func sees(_ person: Person, _ id: String, _ rules: Rules) -> Bool {
        may(person, "read", id, rules)
    }

    func may(_ person: Person, _ action: String, _ id: String, _ rules: Rules) -> Bool {
        guard let record = record(id) else { return false }
        return holds(rules.rule(action, of: record.type), person, record)
    }

    /// Whether a field of a record that is seen may be read.
    func reads(_ person: Person, _ field: String, of record: Record, _ rules: Rules) -> Bool {
        rules.fields["\(record.type).\(field)"].map { holds($0, person, record) } ?? true
    }

    func holds(_ rule: JSONValue, _ person: Person, _ record: Record?) -> Bool {
        guard let (name, content) = rule.object?.members.first.map({ ($0.key, $0.value) }) else {
            return false
        }
        switch name {
        case "all": return (content.array ?? []).allSatisfy { holds($0, person, record) }
        case "any": return (content.array ?? []).contains { holds($0, person, record) }
        case "not": return !holds(content, person, record)
        case "viewer": return person.id != nil
        case "claim":
            return (content.object?.members ?? []).allSatisfy { member in
                values(ofClaim: member.key, person).contains { isSame($0, member.value) }
            }
        case "field":
            guard let record else { return false }
            return (content.object?.members ?? []).allSatisfy { member in
                matches(record, member.key, member.value, person)
            }
        default: return false
        }
    }

    private func values(ofClaim name: String, _ person: Person) -> [JSONValue] {
        guard person.id != nil, let claim = person.claims[name] else { return [] }
        return claim.array ?? [claim]
    }

    private func matches(
        _ record: Record, _ field: String, _ wanted: JSONValue, _ person: Person
    ) -> Bool {
        let value = field == "id" ? .leaf(.string(record.id)) : record.fields[field]
        if let inner = wanted.object {
            guard case .link(let id)? = value, let linked = self.record(id) else { return false }
            return inner.members.allSatisfy { matches(linked, $0.key, $0.value, person) }
        }
        if wanted == .null {
            switch value {
            case nil, .leaf(.null)?: return true
            case .link(let id)?: return self.record(id) == nil
            default: return false
            }
        }
        var expected = [wanted]
        if let text = wanted.string, text == "$viewer" {
            expected = person.id.map { [.string($0)] } ?? []
        } else if let text = wanted.string, text.hasPrefix("$claim.") {
            expected = values(ofClaim: String(text.dropFirst(7)), person)
        }
        let found: [JSONValue]
        switch value {
        case nil: found = []
        case .leaf(let leaf)?: found = leaf.array ?? [leaf]
        // A link to a record that is deleted is none.
        case .link(let id)?: found = self.record(id) == nil ? [] : [.string(id)]
        case .links(let ids)?: found = ids.filter { self.record($0) != nil }.map(JSONValue.string)
        }
        let isID =
            switch value {
            case .link?, .links?: true
            default: field == "id"
            }
        return expected.contains { expected in
            // An id may be a number in a claim.
            let wanted: JSONValue =
                if isID, let number = expected.int { .string("\(number)") } else { expected }
            return found.contains { isSame($0, wanted) }
        }
    }

    private func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        func number(_ value: JSONValue) -> Double? {
            switch value {
            case .int(let number): Double(number)
            case .double(let number): number
            default: nil
            }
        }
        if let left = number(left), let right = number(right) { return left == right }
        return left == right
    }

    // MARK: What is left for a viewer

    /// The store without what somebody does not see.
    /// - Parameter now: a later state, in which it has to be seen as well where it still exists.
    func left(for person: Person, _ rules: Rules, now: AccessModel? = nil) -> AccessModel {
        func isSeen(_ record: Record) -> Bool {
            guard sees(person, record.id, rules) else { return false }
            return now?.record(record.id).map { now?.sees(person, $0.id, rules) ?? true } ?? true
        }
        let seen = records.filter(isSeen)
        let ids = Set(seen.map(\.id))
        return AccessModel(
            records: seen.map { record in
                var record = record
                record.fields = record.fields.filter {
                    isRead(person, $0.key, of: record, rules, now: now)
                }.compactMapValues { value in
                    switch value {
                    case .leaf: value
                    case .link(let id): ids.contains(id) ? value : nil
                    case .links(let links): .links(links.filter(ids.contains))
                    }
                }
                return record
            })
    }

    func isRead(
        _ person: Person, _ field: String, of record: Record, _ rules: Rules, now: AccessModel?
    ) -> Bool {
        guard reads(person, field, of: record, rules) else { return false }
        return now?.record(record.id).map { now?.reads(person, field, of: $0, rules) ?? true }
            ?? true
    }

    /// The record that a text names, among those that are left: by its id, else by a unique value.
    func find(_ text: String, type: String, unique: [String]) -> Record? {
        if let record = record(text), record.type == type { return record }
        for field in unique {
            let found = records.first {
                guard $0.type == type, case .leaf(.string(text))? = $0.fields[field] else {
                    return false
                }
                return true
            }
            if let found { return found }
        }
        return nil
    }

    /// As a seed file.
    var seed: String {
        records.map { record in
            let fields = record.fields.sorted { $0.key < $1.key }.map { name, value in
                let json: JSONValue
                switch value {
                case .leaf(let leaf):
                    if case .array = leaf { json = ["value": leaf] } else { json = leaf }
                case .link(let id): json = ["ref": .string(id)]
                case .links(let ids): json = ["refs": .array(ids.map(JSONValue.string))]
                }
                return (name, json)
            }
            return JSONValue.object([
                "id": .string(record.id), "type": .string(record.type),
                "fields": .object(JSONObject(fields)),
            ]).text
        }.joined(separator: "\n")
    }
}
