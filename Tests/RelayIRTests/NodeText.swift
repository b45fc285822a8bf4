import RelayArtifacts

// Nodes as text, one a line, children indented: what tests compare.

extension NormalizationOperation {
    var text: String {
        ([name + argumentDefinitions.text] + selections.lines.indented).joined(separator: "\n")
    }
}

extension ReaderFragment {
    var text: String {
        let marks =
            [
                possibleTypes.isEmpty ? nil : "possible \(possibleTypes.joined(separator: "|"))",
                metadata.plural ? "plural" : nil, metadata.catchTo.map { "catch \($0.rawValue)" },
                metadata.throwOnFieldError ? "throws" : nil,
                metadata.refetch.map {
                    "refetch \($0.operation) \($0.path)\($0.identifierField.map { " by \($0)" } ?? "")"
                },
            ]
            + metadata.connections.map { connection in
                "connection \(connection.path)"
                    + (connection.forward.map { " forward \($0.count),\($0.cursor)" } ?? "")
                    + (connection.backward.map { " backward \($0.count),\($0.cursor)" } ?? "")
            }
        let head = "\(name) on \(type)\(argumentDefinitions.text)"
        return
            ([([head] + marks.compactMap(\.self)).joined(separator: "; ")]
            + selections.lines.indented).joined(separator: "\n")
    }
}

extension [ArgumentDefinition] {
    fileprivate var text: String {
        guard !isEmpty else { return "" }
        let definitions = map { definition in
            switch definition {
            case .local(let name, let value): "$\(name)" + (value.map { " = \($0)" } ?? "")
            case .root(let name): "root $\(name)"
            }
        }
        return "(\(definitions.joined(separator: ", ")))"
    }
}

extension [NormalizationSelection] {
    fileprivate var lines: [String] { flatMap(\.lines) }
}

extension NormalizationSelection {
    fileprivate var lines: [String] {
        switch self {
        case .scalarField(let field): ["\(field.alias.map { "\($0): " } ?? "")\(field.key.text)"]
        case .linkedField(let field):
            [
                "\(field.alias.map { "\($0): " } ?? "")\(field.key.text) -> "
                    + (field.concreteType ?? "?") + (field.plural ? "*" : "")
            ]
                + field.selections.lines.indented
        case .handle(let handle):
            [
                "handle \(handle.handle) \(handle.fieldKey.text) as \(handle.handleKey.text)"
                    + (handle.handleArgs.isEmpty ? "" : " with \(handle.handleArgs.text)")
            ]
        case .inlineFragment(let fragment): [fragment.head] + fragment.selections.lines.indented
        case .typeDiscriminator(let discriminator): ["is \(discriminator.abstractKey)"]
        case .condition(let condition):
            ["if \(condition.passingValue ? "" : "not ")$\(condition.condition)"]
                + condition.selections.lines.indented
        case .clientExtension(let part): ["client"] + part.selections.lines.indented
        case .defer(let part): ["defer"] + part.selections.lines.indented
        case .stream(let part): ["stream"] + part.selections.lines.indented
        }
    }
}

extension [ReaderSelection] {
    fileprivate var lines: [String] { flatMap(\.lines) }
}

extension ReaderSelection {
    fileprivate var lines: [String] {
        switch self {
        case .scalarField(let field):
            [
                "\(field.alias.map { "\($0): " } ?? "")\(field.key.text)"
                    + marks(field.required, field.catchTo)
            ]
        case .linkedField(let field):
            [
                "\(field.alias.map { "\($0): " } ?? "")\(field.key.text) -> "
                    + (field.concreteType ?? "?") + (field.plural ? "*" : "")
                    + marks(field.required, field.catchTo)
            ] + field.selections.lines.indented
        case .fragmentSpread(let spread):
            ["...\(spread.name)" + (spread.args.isEmpty ? "" : " with \(spread.args.text)")]
        case .inlineFragment(let fragment): [fragment.head] + fragment.selections.lines.indented
        case .alias(let alias):
            ["\(alias.name): \(alias.isAlways ? "always " : "")\(alias.fragment.head)"]
                + alias.fragment.selections.lines.indented
        case .condition(let condition):
            ["if \(condition.passingValue ? "" : "not ")$\(condition.condition)"]
                + condition.selections.lines.indented
        case .clientExtension(let part): ["client"] + part.selections.lines.indented
        case .defer(let part): ["defer"] + part.selections.lines.indented
        case .stream(let part): ["stream"] + part.selections.lines.indented
        }
    }
}

extension InlineFragmentNode {
    fileprivate var head: String {
        "on \(type)" + (abstractKey.map { " \($0) \(possibleTypes.joined(separator: "|"))" } ?? "")
    }
}

private func marks(_ required: RequiredAction?, _ catchTo: CatchTarget?) -> String {
    (required.map { " required \($0.rawValue)" } ?? "")
        + (catchTo.map { " catch \($0.rawValue)" } ?? "")
}

extension StorageKey {
    fileprivate var text: String {
        constant ?? "\(name)(\(arguments.text))"
    }
}

extension [any Argument] {
    fileprivate var text: String { map(\.text).joined(separator: ",") }
}

extension Argument {
    fileprivate var text: String {
        switch self {
        case let argument as VariableArgument:
            "\(name):$\(argument.variableName)\(distinguishesNull ? " or null" : "")"
        case let argument as LiteralArgument: "\(name):\(argument.value)"
        case let argument as ListValueArgument: "\(name):[\(argument.items.text)]"
        case let argument as ObjectValueArgument: "\(name):{\(argument.fields.text)}"
        default: name
        }
    }
}

extension [String] {
    fileprivate var indented: [String] { map { "  " + $0 } }
}
