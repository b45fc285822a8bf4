/// A type whose values are sent: variables, an input object, an expected answer.
///
/// A field that is nil is not sent. Where null means something else, the field's name in `null` says so.
struct ValueStruct {
    struct Field {
        /// As GraphQL has it.
        var name: String
        /// Without the optionality of the field itself.
        var type: String
        /// Whether it may be left out.
        var isOptional: Bool
        /// Whether null may be sent.
        var isNullable: Bool
        var description: String?
        var deprecationReason: String?
        /// Whether its type contains the type that has it: then it is kept in an array. (Each such circle has a field
        /// that may be left out, or there would be no values.)
        var isRecursive = false
    }

    var name: String
    var description: String?
    /// Whether there is also an initializer that begins with the id, for values that programs make by hand.
    var hasIDFirst = false
    var fields: [Field]
    /// Fields that are always the same, and their values as Swift source has them.
    var constants: [(name: String, value: String)] = []

    // MARK: Names

    private struct Named {
        var field: Field
        /// Without quotes.
        var name: String
        var storage: String
        var quoted: String { SwiftNames.quoted(name) }
        /// As an argument, with the parameter's value.
        var argument: String { "\(SwiftNames.argument(name)): \(quoted)" }
        /// What is sent.
        var value: String { field.isRecursive ? "\(storage).first" : storage }
        var optionalType: String { field.isOptional ? field.type + "?" : field.type }
        var parameter: String {
            "\(SwiftNames.parameter(name)): \(optionalType)\(field.isOptional ? " = nil" : "")"
        }
    }

    private var scope: NameScope {
        NameScope([
            "variableData", "variableValue", "presentVariableValue", "NullableField", "hashValue",
            "null", "RawValue", "VariableData", "Variables",
        ])
    }

    private var named: [Named] {
        var scope = scope
        var named = fields.map { field in
            let name = scope.take(SwiftNames.member(field.name))
            return Named(field: field, name: name, storage: SwiftNames.quoted(name))
        }
        for place in named.indices
        where named[place].field.isRecursive || named[place].field.deprecationReason != nil {
            named[place].storage = scope.take("stored_" + fields[place].name)
        }
        return named
    }

    /// The parameters of its initializer, and the same as arguments with the parameters' values.
    var parameters: (declared: [String], passed: [String]) {
        let named = named
        return (named.map(\.parameter), named.map(\.argument))
    }

    // MARK: Text

    /// - Parameter nested: writes types that are nested in it.
    func write(
        _ access: String, to text: inout SwiftText, nested: (inout SwiftText) -> Void = { _ in }
    ) {
        let named = named
        let nullable = named.filter(\.field.isNullable)
        text.document(description)
        text.block("\(access)struct \(name): VariableDataConvertible, Hashable, Sendable") { text in
            for field in named { declare(field, access, &text) }
            if !nullable.isEmpty {
                text.document("Which fields are null where they are nil; the others are left out.")
                text.line("\(access)var null: Set<NullableField>")
            }
            text.space()
            writeInitializers(named, hasNull: !nullable.isEmpty, access, &text)
            text.space()
            writeData(named, hasNull: !nullable.isEmpty, access, &text)
            if !nullable.isEmpty {
                text.space()
                text.document("A field that can be null.")
                text.block("\(access)enum NullableField: String, Hashable, Sendable") { text in
                    for field in nullable {
                        let isSame = field.name == field.field.name
                        text.line(
                            "case \(field.quoted)"
                                + (isSame ? "" : " = \(SwiftText.literal(field.field.name))"))
                    }
                }
            }
            nested(&text)
        }
    }

    private func declare(_ field: Named, _ access: String, _ text: inout SwiftText) {
        text.document(field.field.description)
        guard field.storage != field.quoted else {
            text.line("\(access)var \(field.quoted): \(field.optionalType)")
            return
        }
        text.deprecate(field.field.deprecationReason)
        text.block("\(access)var \(field.quoted): \(field.optionalType)") { text in
            if field.field.isRecursive {
                text.line("get { \(field.storage).first }")
                text.line("set { \(field.storage) = newValue.map { [$0] } ?? [] }")
            } else {
                text.line("get { \(field.storage) }")
                text.line("set { \(field.storage) = newValue }")
            }
        }
        let type = field.field.isRecursive ? "[\(field.field.type)]" : field.optionalType
        text.line("private var \(field.storage): \(type)")
    }

    private func writeInitializers(
        _ named: [Named], hasNull: Bool, _ access: String, _ text: inout SwiftText
    ) {
        let parameters =
            named.map(\.parameter) + (hasNull ? ["null: Set<NullableField> = []"] : [])
        if parameters.isEmpty {
            text.line("\(access)init() {}")
            return
        }
        text.list("\(access)init", "(", parameters, ")", " {")
        text.indented { text in
            for field in named {
                let target =
                    field.storage == field.quoted ? "self.\(field.quoted)" : field.storage
                let value =
                    field.field.isRecursive
                    ? "\(field.quoted).map { [$0] } ?? []" : field.quoted
                text.line("\(target) = \(value)")
            }
            if hasNull { text.line("self.null = null") }
        }
        text.line("}")
        guard hasIDFirst else { return }
        let required = named.filter { !$0.field.isOptional }
        // Where the id already is the first of them, this initializer would have the same labels as the call in it,
        // and Swift would take it for itself.
        guard let id = required.first(where: { $0.name == "id" }), required.first?.name != "id"
        else { return }
        let ordered = [id] + required.filter { $0.name != "id" }
        text.space()
        text.document("The required fields, the id first.")
        text.list("\(access)init", "(", ordered.map(\.parameter), ")", " {")
        text.indented { text in
            text.list("self.init", "(", required.map(\.argument))
        }
        text.line("}")
    }

    private func writeData(
        _ named: [Named], hasNull: Bool, _ access: String, _ text: inout SwiftText
    ) {
        let items =
            constants.map { "\(SwiftText.literal($0.name)): \($0.value)" }
            + named.map { "\(SwiftText.literal($0.field.name)): \($0.value)" }
        text.block("\(access)var variableData: VariableData") { text in
            if items.isEmpty {
                text.line("[:]")
            } else if hasNull {
                text.wrapped(
                    "VariableData(", "[", items, "]", ", null: null.lazy.map(\\.rawValue))")
            } else {
                text.list("", "[", items, "]")
            }
        }
    }
}
