// Prints type-system documents in the layout of graphql-js.

extension SchemaDefinition {
    package func printed() -> String {
        let operations = operationTypes.map { "\($0.operation.rawValue): \($0.type.value)" }
        return description.printedBefore()
            + words([
                isExtension ? "extend schema" : "schema", directives.printed(), block(operations),
            ])
    }
}

extension TypeDefinition {
    package func printed() -> String {
        let head = words([isExtension ? "extend" : "", keyword, name.value])
        let implements = wrap("implements ", interfaceNames.map(\.value).joined(separator: " & "))
        return description.printedBefore()
            + words([head, implements, directives.printed(), printedBody])
    }

    private var keyword: String {
        switch body {
        case .scalar: "scalar"
        case .object: "type"
        case .interface: "interface"
        case .union: "union"
        case .enum: "enum"
        case .inputObject: "input"
        }
    }

    private var printedBody: String {
        switch body {
        case .scalar: ""
        case .object(_, let fields), .interface(_, let fields): block(fields.map { $0.printed() })
        case .union(let members): wrap("= ", members.map(\.value).joined(separator: " | "))
        case .enum(let values): block(values.map { $0.printed() })
        case .inputObject(let fields): block(fields.map { $0.printed() })
        }
    }
}

extension FieldDefinition {
    func printed() -> String {
        description.printedBefore() + name.value + parenthesized(arguments.map { $0.printed() })
            + ": \(type)" + wrap(" ", directives.printed())
    }
}

extension InputValueDefinition {
    func printed() -> String {
        description.printedBefore()
            + words([
                "\(name.value): \(type)", wrap("= ", defaultValue?.printed() ?? ""),
                directives.printed(),
            ])
    }
}

extension EnumValueDefinition {
    func printed() -> String {
        description.printedBefore() + words([name.value, directives.printed()])
    }
}

extension DirectiveDefinition {
    package func printed() -> String {
        description.printedBefore() + "directive @" + name.value
            + parenthesized(arguments.map { $0.printed() }) + (isRepeatable ? " repeatable" : "")
            + " on "
            + locations.map(\.rawValue).joined(separator: " | ")
    }
}
