import RelayJSON

/// Fields with one response name that cannot be merged, and why.
struct FieldConflict {
    let responseName: String
    let reason: Reason
    /// The field that comes first, then those below it that are part of the reason.
    let fields: [Field]
    let otherFields: [Field]

    indirect enum Reason {
        case differentFields(String, String)
        case differingArguments
        case conflictingTypes(String, String)
        /// Their selections conflict.
        case subfields([FieldConflict])

        var text: String {
            switch self {
            case .differentFields(let name, let other):
                "\"\(name)\" and \"\(other)\" are different fields"
            case .differingArguments: "they have differing arguments"
            case .conflictingTypes(let type, let other):
                "they return conflicting types \"\(type)\" and \"\(other)\""
            case .subfields(let conflicts):
                conflicts.map {
                    "subfields \"\($0.responseName)\" conflict because \($0.reason.text)"
                }
                .joined(separator: " and ")
            }
        }
    }

    var message: String {
        "Fields \"\(responseName)\" conflict because \(reason.text). "
            + "Use different aliases on the fields to fetch both if this was intentional."
    }

    var locations: [Int] { (fields + otherFields).map(\.location) }
}

/// A field and the type it is selected on.
struct PlacedField {
    let field: Field
    let parent: NamedType?

    /// The field's definition; meta-fields are ignored.
    var definition: SchemaField? { parent?.field(field.name.value) }

    /// Whether both request the same thing of the same object: name and arguments.
    func difference(from other: PlacedField) -> FieldConflict.Reason? {
        if field.name.value != other.field.name.value {
            return .differentFields(field.name.value, other.field.name.value)
        }
        return field.arguments.areIdentical(to: other.field.arguments) ? nil : .differingArguments
    }

    /// Whether the results of the two have different shapes (SameResponseShape).
    func shapeDifference(
        from other: PlacedField, _ schema: Schema
    ) -> FieldConflict.Reason? {
        guard let type = definition?.type, let otherType = other.definition?.type,
            !schema.haveSameShape(type, otherType)
        else { return nil }
        return .conflictingTypes(schema.print(type), schema.print(otherType))
    }

    func conflict(with other: PlacedField, because reason: FieldConflict.Reason) -> FieldConflict {
        FieldConflict(
            responseName: field.responseName, reason: reason, fields: [field],
            otherFields: [other.field])
    }
}

extension Schema {
    /// SameResponseShape of GraphQL §5.3.2: the same wrappers, and the same type if it is a leaf.
    fileprivate func haveSameShape(_ type: WrappedType, _ other: WrappedType) -> Bool {
        switch (type, other) {
        case (.nonNull(let type), .nonNull(let other)), (.list(let type), .list(let other)):
            haveSameShape(type, other)
        case (.named(let type), .named(let other)):
            type == other || !(self[type].kind.isLeaf || self[other].kind.isLeaf)
        default: false
        }
    }
}

extension [Argument] {
    /// Whether the same arguments have the same values, in any order.
    fileprivate func areIdentical(to other: [Argument]) -> Bool {
        if isEmpty, other.isEmpty { return true }
        return Value(.object(asFields)).isIdentical(to: Value(.object(other.asFields)))
    }

    private var asFields: [ObjectField] { map { ObjectField(name: $0.name, value: $0.value) } }
}

extension Value {
    /// Whether both would be printed identically, ignoring the order of input fields.
    fileprivate func isIdentical(to other: Value) -> Bool {
        switch (kind, other.kind) {
        case (.variable(let text), .variable(let other)), (.int(let text), .int(let other)),
            (.float(let text), .float(let other)), (.enum(let text), .enum(let other)):
            text.isSame(as: other)
        case (.string(let text, let isBlock), .string(let other, let isOtherBlock)):
            isBlock == isOtherBlock && text.isSame(as: other)
        case (.boolean(let value), .boolean(let other)): value == other
        case (.null, .null): true
        case (.list(let values), .list(let others)):
            values.count == others.count
                && zip(values, others).allSatisfy { $0.isIdentical(to: $1) }
        case (.object(let fields), .object(let others)):
            fields.count == others.count
                && zip(fields.sortedByName, others.sortedByName).allSatisfy {
                    $0.name.value == $1.name.value && $0.value.isIdentical(to: $1.value)
                }
        case (.variable, _), (.int, _), (.float, _), (.string, _), (.boolean, _), (.null, _),
            (.enum, _), (.list, _), (.object, _):
            false
        }
    }
}

extension [ObjectField] {
    fileprivate var sortedByName: [ObjectField] {
        count < 2 ? self : sorted { $0.name.value < $1.name.value }
    }
}
