import GraphQLLanguage

/// Writes the types of enums. Servers may know values that the compiler's schema does not have, so each has a case for
/// them.
struct EnumWriter {
    let types: SwiftTypes
    private var access: String { types.options.access.modifier }

    private struct Case {
        var value: SchemaEnumValue
        /// As Swift source has it.
        var name: String
        var text: String { SwiftText.literal(value.name) }
        var isDeprecated: Bool { value.deprecationReason != nil }
    }

    func write(_ type: NamedType, to text: inout SwiftText) {
        let name = types.names.type(type)
        let cases = cases(of: type)
        let deprecated = cases.filter(\.isDeprecated)
        text.document(type.description)
        text.block(
            "\(access)enum \(name): RawRepresentable, CaseIterable, Hashable, Sendable, "
                + "ReadableScalar, VariableValueConvertible"
        ) { text in
            for one in cases {
                text.document(one.value.description)
                text.deprecate(one.value.deprecationReason)
                text.line("case \(one.name)")
            }
            text.document("A value that the schema did not have when this was compiled.")
            text.line("case unknown(String)")
            text.space()
            text.document(
                "The values of the schema"
                    + (deprecated.isEmpty ? "." : ", without those that are deprecated."))
            text.list(
                "\(access)static let allCases: [\(name)] = ", "[",
                cases.filter { !$0.isDeprecated }.map { ".\($0.name)" }, "]")
            text.space()
            text.block("\(access)init(rawValue: String)") { text in
                text.line("switch rawValue {")
                for one in cases {
                    let value =
                        one.isDeprecated ? "Self.\(one.name)(Deprecated.self)" : ".\(one.name)"
                    text.line("case \(one.text): self = \(value)")
                }
                text.line("default: self = .unknown(rawValue)")
                text.line("}")
            }
            text.space()
            text.block("\(access)var rawValue: String") { text in
                text.line("switch self {")
                for one in cases { text.line("case .\(one.name): \(one.text)") }
                text.line("case .unknown(let text): text")
                text.line("}")
            }
            if !deprecated.isEmpty { write(deprecated, of: name, &text) }
        }
    }

    private func cases(of type: NamedType) -> [Case] {
        // Of an optional, `.none` and `.some` mean something else.
        var scope = NameScope([
            "none", "some", "unknown", "allCases", "rawValue", "hashValue", "variableValue",
            "presentVariableValue", "init", "hash",
        ])
        return type.values.map { value in
            let name = scope.take(SwiftNames.member(SwiftNames.lowerCamel(value.name)))
            return Case(value: value, name: SwiftNames.quoted(name))
        }
    }

    /// Swift warns wherever a deprecated case is made, in the enum's own initializer, too; but not behind a protocol.
    private func write(_ deprecated: [Case], of name: String, _ text: inout SwiftText) {
        text.space()
        text.line(
            "// Makes the deprecated cases; behind a protocol, because that is no use of them.")
        text.block("private protocol DeprecatedValues") { text in
            for one in deprecated { text.line("static var \(one.name): \(name) { get }") }
        }
        text.space()
        text.block("private enum Deprecated: DeprecatedValues") { text in
            for one in deprecated {
                text.line("@available(*, deprecated)")
                text.line("static var \(one.name): \(name) { .\(one.name) }")
            }
        }
        for one in deprecated {
            text.space()
            text.line(
                "private static func \(one.name)(_ values: (some DeprecatedValues).Type) -> Self {")
            text.indented { text in text.line("values.\(one.name)") }
            text.line("}")
        }
    }
}
