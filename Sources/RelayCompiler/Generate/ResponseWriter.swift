import GraphQLLanguage
import RelayIR

/// Writes the type of a mutation's expected answers: everything that the mutation selects, its fragments' fields, too.
struct ResponseWriter {
    let types: SwiftTypes
    private let shape: DataShape
    private let shared: SharedAnswers
    private var access: String { types.options.access.modifier }

    /// - Parameter shape: of everything that the mutation selects.
    init(_ shape: DataShape, _ types: SwiftTypes) {
        self.types = types
        self.shape = shape
        shared = SharedAnswers(shape, types)
    }

    func write(to text: inout SwiftText) {
        text.document(
            """
            An expected answer, to be shown until the real one arrives.

            Fields that are nil are not part of it: the store keeps what it has.
            """)
        writeStruct(shape, Self.name, nil, &text) { text in
            for answer in shared.all {
                text.space()
                write(answer.shape, as: answer.name, suffix: "_" + answer.member.name, to: &text)
            }
        }
    }

    private static let name = "OptimisticResponse"

    private func write(
        _ shape: DataShape, as name: String, suffix: String, to text: inout SwiftText
    ) {
        shape.variants.isEmpty
            ? writeStruct(shape, name, nil, &text) : writeEnum(shape, name, suffix, &text)
    }

    /// - Parameters:
    ///   - object: the type of all values, if it is known.
    ///   - others: writes further types that are nested in it.
    private func writeStruct(
        _ shape: DataShape, _ name: String, _ object: NamedType?, _ text: inout SwiftText,
        others: (inout SwiftText) -> Void = { _ in }
    ) {
        let object = object ?? (shape.type.kind == .object ? shape.type : nil)
        var scope = SharedAnswers.scope(shape.members)
        var fields: [ValueStruct.Field] = []
        var constants: [(name: String, value: String)] = []
        var nested: [(shape: DataShape, name: String, alias: String)] = []
        for member in shape.members {
            if member.definition === types.schema.typenameField, let object {
                constants.append((member.name, SwiftText.literal(object.name)))
                continue
            }
            var type = types.present(member.type)
            if let inner = member.shape {
                if let name = shared.name(member, inner) {
                    type = types.present(member.type, "\(Self.name).\(name)")
                } else {
                    let name = SharedAnswers.name(member, inner, &scope, types)
                    nested.append((inner, name, member.name))
                    type = types.present(member.type, name)
                }
            }
            let isOptional = member.isConditional || !member.type.isNonNull
            fields.append(
                ValueStruct.Field(
                    name: member.name, type: type, isOptional: isOptional,
                    isNullable: !member.type.isNonNull,
                    description: member.definition === types.schema.typenameField
                        ? nil : member.definition?.description))
        }
        ValueStruct(name: name, fields: fields, constants: constants)
            .write(access, to: &text) { text in
                for (shape, name, alias) in nested {
                    text.space()
                    write(shape, as: name, suffix: "_" + alias, to: &text)
                }
                others(&text)
            }
    }

    /// A record of an abstract type: one of its types, or another, named by its `__typename`.
    private func writeEnum(
        _ shape: DataShape, _ name: String, _ suffix: String, _ text: inout SwiftText
    ) {
        var scope = NameScope([
            "none", "some", "Other", "other", "variableData", "variableValue",
            "presentVariableValue", "hashValue",
        ])
        let cases = shape.variants.map { variant in
            (
                variant,
                SwiftNames.quoted(
                    scope.take(SwiftNames.member(SwiftNames.lowerCamel(variant.type.name)))),
                DataScope.nested(variant.type.name + suffix, &scope, types.names)
            )
        }
        text.block("\(access)enum \(name): VariableDataConvertible, Hashable, Sendable") { text in
            for (_, name, type) in cases { text.line("case \(name)(\(type))") }
            text.document("An object of another type.")
            text.line("case other(Other)")
            text.space()
            text.block("\(access)var variableData: VariableData") { text in
                text.line("switch self {")
                for name in cases.map(\.1) + ["other"] {
                    text.line("case .\(name)(let value): value.variableData")
                }
                text.line("}")
            }
            for (variant, _, type) in cases {
                text.space()
                writeStruct(variant.shape, type, variant.type, &text)
            }
            text.space()
            let all = DataShape(
                type: shape.type, members: shape.members, spreads: [], variants: [])
            writeStruct(all, "Other", nil, &text)
        }
    }
}
