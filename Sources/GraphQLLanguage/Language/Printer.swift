// Prints executable documents in the layout of graphql-js: two spaces, one selection per line,
// arguments on separate lines if they would make a line longer than 80.

extension Document {
    /// The document as text that parses to the same document.
    package func printed() -> String {
        definitions.map { $0.printed() }.joined(separator: "\n\n")
    }
}

extension Definition {
    package func printed() -> String {
        switch self {
        case .operation(let operation): operation.printed()
        case .fragment(let fragment): fragment.printed()
        case .schema(let schema): schema.printed()
        case .type(let type): type.printed()
        case .directive(let directive): directive.printed()
        }
    }
}

extension OperationDefinition {
    package func printed() -> String {
        let variables = parenthesized(self.variables.map { $0.printed() })
        let head = words([
            operation.rawValue, (name?.value ?? "") + variables, directives.printed(),
        ])
        // An anonymous query needs no keyword, unless something must be written before it.
        let isShorthand = head == "query" && description == nil
        return description.printedBefore() + (isShorthand ? "" : head + " ")
            + selectionSet.printed()
    }
}

extension VariableDefinition {
    func printed() -> String {
        description.printedBefore() + "$\(name.value): \(type)"
            + (defaultValue.map { " = " + $0.printed() } ?? "") + wrap(" ", directives.printed())
    }
}

extension FragmentDefinition {
    package func printed() -> String {
        description.printedBefore() + "fragment \(name.value) on \(typeCondition.value) "
            + wrap("", directives.printed(), " ") + selectionSet.printed()
    }
}

extension SelectionSet {
    func printed() -> String {
        var text = ""
        print(to: &text, depth: 0)
        return text
    }

    /// Each line is written once, however deep it is.
    private func print(to text: inout String, depth: Int) {
        if selections.isEmpty { return }
        let end = "\n" + String(repeating: "  ", count: depth)
        text += "{"
        for selection in selections {
            let (head, inner) = selection.parts
            text += end + indented(head).replacing(lineEndsWith: end)
            guard let inner, !inner.selections.isEmpty else { continue }
            text += " "
            inner.print(to: &text, depth: depth + 1)
        }
        text += end + "}"
    }
}

extension Selection {
    /// What comes before the braces, and what is in them.
    fileprivate var parts: (head: String, inner: SelectionSet?) {
        switch self {
        case .field(let field): return (field.printedHead(), field.selectionSet)
        case .fragmentSpread(let spread):
            return (words(["..." + spread.name.value, spread.directives.printed()]), nil)
        case .inlineFragment(let fragment):
            let head = words([
                "...", wrap("on ", fragment.typeCondition?.value ?? ""),
                fragment.directives.printed(),
            ])
            return (head, fragment.selectionSet)
        }
    }
}

extension String {
    fileprivate func replacing(lineEndsWith end: String) -> String {
        guard utf8.contains(UInt8(ascii: "\n")) else { return self }
        return split(separator: "\n", omittingEmptySubsequences: false).joined(separator: end)
    }
}

extension Field {
    /// All but the selection set.
    fileprivate func printedHead() -> String {
        let head = wrap("", alias?.value ?? "", ": ") + name.value
        let items = arguments.map { $0.printed() }
        var line = head + wrap("(", items.joined(separator: ", "), ")")
        if line.utf16.count > 80 {
            line = head + wrap("(\n", indented(items.joined(separator: "\n")), "\n)")
        }
        return words([line, directives.printed()])
    }
}

extension Argument {
    func printed() -> String { "\(name.value): \(value.printed())" }
}

extension [Directive] {
    func printed() -> String {
        map { directive in
            let arguments = directive.arguments.map { $0.printed() }.joined(separator: ", ")
            return "@" + directive.name.value + wrap("(", arguments, ")")
        }
        .joined(separator: " ")
    }
}

extension Value {
    /// The value as written in a document.
    package func printed() -> String {
        switch kind {
        case .variable(let name): "$" + name
        case .int(let text), .float(let text), .enum(let text): text
        case .string(let text, let isBlock): isBlock ? printBlockString(text) : printString(text)
        case .boolean(let value): value ? "true" : "false"
        case .null: "null"
        case .list(let values): "[" + values.map { $0.printed() }.joined(separator: ", ") + "]"
        case .object(let fields):
            "{" + fields.map { "\($0.name.value): \($0.value.printed())" }.joined(separator: ", ")
                + "}"
        }
    }
}

// MARK: Layout

extension StringLiteral? {
    /// A description on the lines before what it describes.
    func printedBefore() -> String {
        guard let self else { return "" }
        return (self.isBlock ? printBlockString(self.value) : printString(self.value)) + "\n"
    }
}

/// The non-empty parts, separated by one space.
func words(_ parts: [String]) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: " ")
}

/// Puts `text` between two others, unless it is empty.
func wrap(_ start: String, _ text: String, _ end: String = "") -> String {
    text.isEmpty ? "" : start + text + end
}

/// Items in parentheses: on one line, unless one of them needs more.
func parenthesized(_ items: [String]) -> String {
    items.contains { $0.utf8.contains(UInt8(ascii: "\n")) }
        ? wrap("(\n", indented(items.joined(separator: "\n")), "\n)")
        : wrap("(", items.joined(separator: ", "), ")")
}

/// Items in braces, each on its own line; nothing if there are none.
func block(_ items: [String]) -> String {
    wrap("{\n", indented(items.joined(separator: "\n")), "\n}")
}

/// Indents all lines by two spaces.
func indented(_ text: String) -> String {
    wrap(
        "  ",
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: "\n  "))
}
