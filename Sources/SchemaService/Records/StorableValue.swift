import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

extension Schema {
    /// A value as stored in a field of a leaf type: an int in a Float field becomes a double, and so on.
    /// - Returns: nil if the type does not have this value.
    func storable(_ value: JSONValue, as type: WrappedType) -> JSONValue? {
        switch type {
        case .nonNull(let inner):
            return value == .null ? nil : storable(value, as: inner)
        case _ where value == .null:
            return .null
        case .list(let item):
            guard let elements = value.array else { return nil }
            var storable: [JSONValue] = []
            for element in elements {
                guard let element = self.storable(element, as: item) else { return nil }
                storable.append(element)
            }
            return .array(storable)
        case .named(let id):
            return storable(value, as: self[id])
        }
    }

    private func storable(_ value: JSONValue, as type: NamedType) -> JSONValue? {
        let isOfType: Bool
        switch (type.name, value) {
        case ("Float", .int(let number)): return .double(Double(number))
        case ("ID", .int(let number)): return .string(String(number))
        case ("Int", .int(let number)): isOfType = Int32(exactly: number) != nil
        case ("Float", .double(let number)): isOfType = number.isFinite
        case ("String", .string), ("ID", .string), ("Boolean", .bool): isOfType = true
        case ("Int", _), ("Float", _), ("String", _), ("ID", _), ("Boolean", _):
            isOfType = false
        default:
            isOfType =
                type.kind == .enum ? value.string.flatMap(type.value) != nil : value.isFinite
        }
        guard isOfType else { return nil }
        return value
    }

    // MARK: Types in inputs

    /// Whether an input of this type can name a record: by its id or a unique value.
    func isRecordName(_ type: WrappedType) -> Bool {
        type.listItem == nil && ["ID", "String", "Int"].contains(self[type.namedType].name)
    }

    /// Whether an input of one type can be stored unchanged in a field of the other. Outer nullability is a
    /// separate question.
    func canStore(_ input: WrappedType, in field: WrappedType) -> Bool {
        isSubType(input.nullable, of: field.nullable) || areTexts(input, field)
    }

    /// ID and String are both stored as text.
    func areTexts(_ one: WrappedType, _ other: WrappedType) -> Bool {
        let texts = ["ID", "String"]
        return one.listItem == nil && other.listItem == nil
            && texts.contains(self[one.namedType].name)
            && texts.contains(self[other.namedType].name)
    }
}

extension Value {
    /// A constant as JSON, according to its literal: names of enum values become strings.
    var constant: JSONValue {
        switch kind {
        case .variable, .null: .null
        case .int(let digits):
            Int64(digits).map(JSONValue.int) ?? Double(digits).map(JSONValue.double) ?? .null
        case .float(let digits): Double(digits).map(JSONValue.double) ?? .null
        case .string(let text, _), .enum(let text): .string(text)
        case .boolean(let flag): .bool(flag)
        case .list(let values): .array(values.map(\.constant))
        case .object(let fields):
            .object(JSONObject(fields.map { ($0.name.value, $0.value.constant) }))
        }
    }
}

extension FieldValue {
    /// A stored leaf as JSON; nil for links and splices.
    var leaf: JSONValue? {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .json(let value): value
        case .failed: .null
        case .link, .links, .unset, .append, .remove, .splice: nil
        }
    }
}
