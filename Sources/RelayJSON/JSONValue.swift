/// A JSON value (RFC 8259) held in memory: variables, extensions, custom scalars, seed files.
///
/// Hot paths do not build one: responses are read with ``JSONReader`` and written with ``JSONWriter``.
/// Whole numbers and fractions are distinct (`1` is `.int`, `1.0` is `.double`), because GraphQL
/// distinguishes them and a store that confuses them wakes its readers for nothing.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number without fraction or exponent that fits 64 bits.
    case int(Int64)
    /// Any other number.
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    /// The value in one form for all equal ones: members by name, whole numbers without a fraction.
    package var canonical: JSONValue {
        switch self {
        case .object(let object):
            let members = object.members.sorted {
                $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
            }
            return .object(JSONObject(members.map { ($0.key, $0.value.canonical) }))
        case .array(let values): return .array(values.map(\.canonical))
        case .double(let number): return Int64(exactly: number).map(JSONValue.int) ?? self
        case .null, .bool, .int, .string: return self
        }
    }

    /// Texts are equal if their bytes are (``ExactText``).
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left.isSame(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(case: 0, 0)
        case .bool(let value): hasher.combine(case: 1, value)
        case .int(let number): hasher.combine(case: 2, number)
        case .double(let number): hasher.combine(case: 3, number)
        case .string(let text): hasher.combine(case: 4, ExactText(text))
        case .array(let elements): hasher.combine(case: 5, elements)
        case .object(let object): hasher.combine(case: 6, object)
        }
    }

    /// Parses one whole document; anything but white space after it is an error.
    package init(
        parsing bytes: some Sequence<UInt8>, limits: JSONLimits = .init()
    ) throws(JSONError) {
        let contiguous = ContiguousArray(bytes)
        let result = contiguous.withUnsafeBytes { buffer -> Result<JSONValue, JSONError> in
            do throws(JSONError) {
                var reader = JSONReader(buffer, limits: limits)
                let value = try reader.readValue()
                try reader.finish()
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    /// Parses one whole document from a string.
    package init(parsing text: String, limits: JSONLimits = .init()) throws(JSONError) {
        try self.init(parsing: text.utf8, limits: limits)
    }

    /// The value as compact JSON bytes, object members in their own order.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.bytes
    }

    /// The value as compact JSON text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONValue {
    package var isNull: Bool { self == .null }

    /// Whether JSON can express it: it has no number for NaN and infinity, which are written as `null`.
    package var isFinite: Bool {
        switch self {
        case .double(let number): number.isFinite
        case .array(let elements): elements.allSatisfy(\.isFinite)
        case .object(let object): object.members.allSatisfy { $0.value.isFinite }
        case .null, .bool, .int, .string: true
        }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var int: Int64? {
        if case .int(let value) = self { value } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of an object; nil for any other value and for an absent member.
    package subscript(_ key: String) -> JSONValue? { object?[key] }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements))
    }
}
