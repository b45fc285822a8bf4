import GraphQLLanguage
import RelayIR

/// Writes the types of variables and input objects.
struct InputTypes {
    let types: SwiftTypes
    private var access: String { types.options.access.modifier }

    // MARK: Variables

    func variables(_ operation: CompiledOperation) -> ValueStruct {
        ValueStruct(
            name: "Variables",
            fields: operation.variables.map { variable in
                ValueStruct.Field(
                    name: variable.name, type: types.present(variable.type),
                    isOptional: !variable.type.isNonNull || variable.defaultValue != nil,
                    isNullable: !variable.type.isNonNull,
                    description: [
                        variable.definition.description?.value,
                        variable.defaultValue.map { "Default: `\($0.printed())`." },
                    ].compactMap(\.self).nonEmpty?.joined(separator: "\n\n"))
            })
    }

    // MARK: Input objects

    func write(_ type: NamedType, to text: inout SwiftText) {
        if type.isOneOf { return writeOneOf(type, &text) }
        ValueStruct(
            name: types.names.type(type), description: type.description, hasIDFirst: true,
            fields: type.inputFields.map { field in
                ValueStruct.Field(
                    name: field.name, type: types.present(field.type),
                    isOptional: !field.isRequired, isNullable: !field.type.isNonNull,
                    description: [
                        field.description,
                        field.defaultValue.map { "Default: `\($0.printed())`." },
                    ].compactMap(\.self).nonEmpty?.joined(separator: "\n\n"),
                    deprecationReason: field.deprecationReason,
                    isRecursive: !field.isRequired && field.type.listItem == nil
                        && contains(types.schema[field.namedType], type))
            }
        ).write(access, to: &text)
    }

    /// Whether a value of one input type has one of the other inside, and not only in a list.
    private func contains(_ type: NamedType, _ other: NamedType) -> Bool {
        guard type.kind == .inputObject else { return false }
        var seen: Set<TypeID> = [type.id]
        var waiting = [type]
        while let next = waiting.popLast() {
            if next.id == other.id { return true }
            // A one-of is an indirect enum: nothing is inside it.
            if next.isOneOf { continue }
            for field in next.inputFields where field.type.listItem == nil {
                let inner = types.schema[field.namedType]
                if inner.kind == .inputObject, seen.insert(inner.id).inserted {
                    waiting.append(inner)
                }
            }
        }
        return false
    }

    /// Of a one-of exactly one field is given.
    private func writeOneOf(_ type: NamedType, _ text: inout SwiftText) {
        // Of an optional, `.none` and `.some` mean something else.
        var scope = NameScope([
            "none", "some", "variableData", "variableValue", "presentVariableValue", "hashValue",
            "init",
        ])
        let cases = type.inputFields.map { field in
            (field, SwiftNames.quoted(scope.take(SwiftNames.member(field.name))))
        }
        text.document(type.description)
        text.block(
            "\(access)indirect enum \(types.names.type(type)): "
                + "VariableDataConvertible, Hashable, Sendable"
        ) { text in
            for (field, name) in cases {
                text.document(field.description)
                text.document(field.deprecationReason.map { "Deprecated: \($0)" })
                text.line("case \(name)(\(types.present(field.type)))")
            }
            text.space()
            text.block("\(access)var variableData: VariableData") { text in
                text.line("switch self {")
                for (field, name) in cases {
                    text.line(
                        "case .\(name)(let value): [\(SwiftText.literal(field.name)): value]")
                }
                text.line("}")
            }
        }
    }
}

extension Array {
    /// nil for an empty one.
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
