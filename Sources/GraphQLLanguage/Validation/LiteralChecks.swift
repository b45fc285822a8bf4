// GraphQL §5.6.1, Values of Correct Type: what is wrong with one literal, apart from its parts. The
// texts are those of graphql-js' built-in scalars and of its ValuesOfCorrectTypeRule.

extension Schema {
    /// What is wrong with a literal that is not a variable, where `type` is expected; nil if
    /// nothing is. For lists and objects this only says whether they are allowed here at all.
    func mismatch(_ value: Value, expecting type: WrappedType) -> String? {
        switch value.kind {
        case .variable: return nil
        case .null: return type.isNonNull ? unexpected(value, expecting: type) : nil
        case .list where type.listItem != nil: return nil
        case .object where self[type.namedType].kind == .inputObject: return nil
        default: break
        }
        let named = self[type.namedType]
        switch named.kind {
        case .scalar: return scalarMismatch(value, named)
        case .enum: return enumMismatch(value, named)
        default:
            // graphql-js has stepped into the list by the time it finds that none was expected.
            if case .list = value.kind { return unexpected(value, expecting: type.nullable) }
            return unexpected(value, expecting: type)
        }
    }

    private func unexpected(_ value: Value, expecting type: WrappedType) -> String {
        "Expected value of type \"\(print(type))\", found \(value.printed())."
    }

    /// A scalar that is not built in accepts any literal that JSON can express, too.
    private func scalarMismatch(_ value: Value, _ type: NamedType) -> String? {
        guard type.origin == .builtIn else {
            return value.infiniteNumber.map { "\(type.name) cannot represent value: \($0)" }
        }
        switch (type.name, value.kind) {
        case ("Int", .int(let text)):
            return Int32(text) == nil
                ? "Int cannot represent non 32-bit signed integer value: \(text)" : nil
        case ("Int", _): return "Int cannot represent non-integer value: \(value.printed())"
        case ("Float", .int(let text)), ("Float", .float(let text)):
            // GraphQL §3.5.2: finite IEEE 754 doubles, and nothing beyond them.
            return Double(text)?.isFinite == true
                ? nil : "Float cannot represent non numeric value: \(text)"
        case ("Float", _): return "Float cannot represent non numeric value: \(value.printed())"
        case ("String", .string): return nil
        case ("String", _):
            return "String cannot represent a non string value: \(value.printed())"
        case ("Boolean", .boolean): return nil
        case ("Boolean", _):
            return "Boolean cannot represent a non boolean value: \(value.printed())"
        case ("ID", .string), ("ID", .int): return nil
        case ("ID", _):
            return "ID cannot represent a non-string and non-integer value: \(value.printed())"
        default: return nil
        }
    }

    private func enumMismatch(_ value: Value, _ type: NamedType) -> String? {
        let text = value.printed()
        let problem: String
        if case .enum(let name) = value.kind {
            if type.value(name) != nil { return nil }
            problem = "Value \"\(text)\" does not exist in \"\(type.name)\" enum."
        } else {
            problem = "Enum \"\(type.name)\" cannot represent non-enum value: \(text)."
        }
        let near = suggestions(for: text, among: type.values.map(\.name))
        return problem + didYouMean(near, "the enum value")
    }

    // MARK: Input objects

    /// The required fields that an object literal lacks, one message each.
    func missingFields(_ fields: [ObjectField], of type: NamedType) -> [String] {
        type.inputFields.compactMap { field in
            guard field.isRequired, !fields.contains(where: { $0.name.value == field.name }) else {
                return nil
            }
            return "Field \"\(type.name).\(field.name)\" of required type "
                + "\"\(print(field.type))\" was not provided."
        }
    }

    func unknownField(_ field: ObjectField, of type: NamedType) -> String {
        let near = suggestions(for: field.name.value, among: type.inputFields.map(\.name))
        return "Field \"\(field.name.value)\" is not defined by type \"\(type.name)\"."
            + didYouMean(near)
    }

    /// GraphQL §3.10.1: a OneOf input object has one field, and its value is not null.
    func oneOfMismatch(_ fields: [ObjectField], of type: NamedType) -> String? {
        guard type.isOneOf else { return nil }
        guard let field = fields.first, fields.allSatisfy({ $0.name.value == field.name.value })
        else {
            return "OneOf Input Object \"\(type.name)\" must specify exactly one key."
        }
        guard case .null = field.value.kind else { return nil }
        return "Field \"\(type.name).\(field.name.value)\" must be non-null."
    }
}

extension Schema {
    /// Checks a constant and everything in it. `report` gets each message and its location.
    package func validateConstant(
        _ value: Value, as type: WrappedType, _ report: (String, Int) -> Void
    ) {
        if let message = mismatch(value, expecting: type) {
            return report(message, value.location)
        }
        switch value.kind {
        case .list(let values):
            guard let item = type.listItem else { return }
            for value in values { validateConstant(value, as: item, report) }
        case .object(let fields):
            let named = self[type.namedType]
            guard named.kind == .inputObject else { return }
            for message in missingFields(fields, of: named) { report(message, value.location) }
            if let message = oneOfMismatch(fields, of: named) { report(message, value.location) }
            for field in fields {
                if let definition = named.inputField(field.name.value) {
                    validateConstant(field.value, as: definition.type, report)
                } else {
                    report(unknownField(field, of: named), field.location)
                }
            }
        default: break
        }
    }
}

extension Value {
    /// The first number in a literal that is too large for a double.
    fileprivate var infiniteNumber: String? {
        switch kind {
        case .int(let text), .float(let text): Double(text)?.isFinite == true ? nil : text
        case .list(let values): values.lazy.compactMap(\.infiniteNumber).first
        case .object(let fields): fields.lazy.compactMap(\.value.infiniteNumber).first
        default: nil
        }
    }
}
