extension Schema {
    /// The schema in the schema definition language, in the layout of graphql-js' `printSchema`:
    /// without what every schema has, and without directives other than `@deprecated`,
    /// `@specifiedBy` and `@oneOf` on definitions.
    ///
    /// - Parameter includesHidden: whether to print what is predefined and hidden from clients.
    package func printed(includesHidden: Bool = false) -> String {
        let directives = directiveDefinitions.filter {
            $0.origin != .builtIn && (includesHidden || !$0.isHidden)
        }
        let types = types.filter {
            $0.origin != .builtIn && (includesHidden || !isHidden($0.id))
        }
        return
            ([printedSchemaDefinition].filter { !$0.isEmpty }
            + directives.map(printed) + types.map(printed)).joined(separator: "\n\n")
    }

    /// Empty if the root types have their default names and there is no description.
    private var printedSchemaDefinition: String {
        let isImplied = OperationType.allCases.allSatisfy {
            rootType(of: $0)?.id == type(named: $0.defaultRootTypeName)?.id
        }
        if description == nil, isImplied { return "" }
        let roots = OperationType.allCases.compactMap { operation in
            rootType(of: operation).map { "\(operation.rawValue): \($0.name)" }
        }
        return printed(description)
            + "schema " + block(roots)
    }

    private func printed(_ directive: SchemaDirective) -> String {
        printed(directive.description) + "directive @\(directive.name)"
            + printed(directive.arguments) + (directive.isRepeatable ? " repeatable" : "")
            + " on " + directive.locations.map(\.rawValue).joined(separator: " | ")
    }

    private func printed(_ type: NamedType) -> String {
        let implements = type.interfaces.map { self[$0].name }.joined(separator: " & ")
        let head: [String]
        switch type.kind {
        case .scalar:
            let url = type.specifiedByURL.map { "@specifiedBy(url: \(printString($0)))" } ?? ""
            head = ["scalar", type.name, url]
        case .object:
            head = ["type", type.name, wrap("implements ", implements), printedFields(of: type)]
        case .interface:
            head = [
                "interface", type.name, wrap("implements ", implements), printedFields(of: type),
            ]
        case .union:
            let members = type.members.map { self[$0].name }.joined(separator: " | ")
            head = ["union", type.name, wrap("= ", members)]
        case .enum:
            let values = type.values.map { value in
                (value.description, value.name + printed(deprecation: value.deprecationReason))
            }
            head = ["enum", type.name, printedBlock(values)]
        case .inputObject:
            let fields = type.inputFields.map { ($0.description, printed($0)) }
            head = ["input", type.name, type.isOneOf ? "@oneOf" : "", printedBlock(fields)]
        }
        return printed(type.description) + words(head)
    }

    private func printedFields(of type: NamedType) -> String {
        printedBlock(
            type.fields.map { field in
                (
                    field.description,
                    field.name + printed(field.arguments, indentation: "  ")
                        + ": " + print(field.type)
                        + printed(deprecation: field.deprecationReason)
                )
            })
    }

    // MARK: Parts

    /// Items in braces; one with a description has an empty line before it, unless it is first.
    private func printedBlock(_ items: [(description: String?, text: String)]) -> String {
        guard !items.isEmpty else { return "" }
        return "{\n" + printedLines(items, indentation: "  ") + "\n}"
    }

    private func printedLines(
        _ items: [(description: String?, text: String)], indentation: String
    ) -> String {
        items.enumerated().map { index, item in
            let space = index > 0 && item.description != nil ? "\n" : ""
            return space + printed(item.description, indentation: indentation) + indentation
                + item.text
        }
        .joined(separator: "\n")
    }

    /// Arguments in parentheses, on one line unless one of them has a description.
    private func printed(_ arguments: [SchemaInputValue], indentation: String = "") -> String {
        if arguments.allSatisfy({ $0.description?.isEmpty ?? true }) {
            return wrap("(", arguments.map(printed).joined(separator: ", "), ")")
        }
        let items = arguments.map { ($0.description, printed($0)) }
        return "(\n" + printedLines(items, indentation: indentation + "  ") + "\n" + indentation
            + ")"
    }

    private func printed(_ input: SchemaInputValue) -> String {
        "\(input.name): \(print(input.type))"
            + (input.defaultValue.map { " = " + $0.printed() } ?? "")
            + printed(deprecation: input.deprecationReason)
    }

    private func printed(deprecation reason: String?) -> String {
        guard let reason else { return "" }
        if reason == defaultDeprecationReason { return " @deprecated" }
        return " @deprecated(reason: \(printString(reason)))"
    }

    private func printed(_ description: String?, indentation: String = "") -> String {
        guard let description else { return "" }
        let text =
            isPrintableAsBlockString(description)
            ? printBlockString(description) : printString(description)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return indentation + lines.joined(separator: "\n" + indentation) + "\n"
    }
}
