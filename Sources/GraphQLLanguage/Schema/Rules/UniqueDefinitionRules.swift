// GraphQL §3: nothing may be defined twice. graphql-js' rules LoneSchemaDefinition,
// UniqueOperationTypes, UniqueTypeNames, UniqueDirectiveNames, UniqueFieldDefinitionNames,
// UniqueEnumValueNames and UniqueArgumentDefinitionNames.

extension TypeSystemDocument {
    func validateUniqueness(_ issues: inout SchemaIssues) {
        validateLoneSchemaDefinition(&issues)
        validateUniqueOperationTypes(&issues)
        validateUniqueTypeNames(&issues)
        validateUniqueDirectiveNames(&issues)
        validateUniqueMemberNames(&issues)
        validateUniqueArgumentDefinitionNames(&issues)
    }

    private func validateLoneSchemaDefinition(_ issues: inout SchemaIssues) {
        for schema in schemas.filter({ !$0.isExtension }).dropFirst() {
            issues.report("Must provide only one schema definition.", at: schema.location)
        }
    }

    private func validateUniqueOperationTypes(_ issues: inout SchemaIssues) {
        var seen: [OperationType: Int] = [:]
        for operationType in schemas.flatMap(\.operationTypes) {
            let operation = operationType.operation
            if let first = seen[operation] {
                issues.report(
                    "There can be only one \(operation.rawValue) type in schema.",
                    at: [first, operationType.location])
            } else {
                seen[operation] = operationType.location
            }
        }
    }

    private func validateUniqueTypeNames(_ issues: inout SchemaIssues) {
        var seen: [String: Definition<TypeDefinition>] = [:]
        // The specification's own types may be defined again; that changes nothing.
        for type in types where type.origin != .builtIn {
            let name = type.node.name
            guard let first = seen.updateValue(seen[name.value] ?? type, forKey: name.value) else {
                continue
            }
            if first.origin == .predefined, type.origin != .predefined {
                issues.report(
                    "Type \"\(name.value)\" already exists in the schema. "
                        + "It cannot also be defined in this type definition.",
                    at: name.location)
            } else {
                issues.report(
                    "There can be only one type named \"\(name.value)\".",
                    at: [first.node.name.location, name.location])
            }
        }
    }

    private func validateUniqueDirectiveNames(_ issues: inout SchemaIssues) {
        var seen: [String: Definition<DirectiveDefinition>] = [:]
        for directive in directives where directive.origin != .builtIn {
            let name = directive.node.name
            guard let first = seen.updateValue(seen[name.value] ?? directive, forKey: name.value)
            else { continue }
            if first.origin == .predefined, directive.origin != .predefined {
                issues.report(
                    "Directive \"@\(name.value)\" already exists in the schema. "
                        + "It cannot be redefined.", at: name.location)
            } else {
                issues.report(
                    "There can be only one directive named \"@\(name.value)\".",
                    at: [first.node.name.location, name.location])
            }
        }
    }

    /// Fields, input fields and enum values must be unique across a definition and its extensions.
    private func validateUniqueMemberNames(_ issues: inout SchemaIssues) {
        var seen: [String: [String: Int]] = [:]
        for type in typesAndExtensions {
            let fields = type.fieldDefinitions.map(\.name) + type.inputFieldDefinitions.map(\.name)
            for (names, what) in [
                (fields, "Field"), (type.valueDefinitions.map(\.name), "Enum value"),
            ] {
                for name in names {
                    if let first = seen[type.name.value]?[name.value] {
                        issues.report(
                            "\(what) \"\(type.name.value).\(name.value)\" "
                                + "can only be defined once.", at: [first, name.location])
                    } else {
                        seen[type.name.value, default: [:]][name.value] = name.location
                    }
                }
            }
        }
    }

    private func validateUniqueArgumentDefinitionNames(_ issues: inout SchemaIssues) {
        for directive in directives.map(\.node) {
            validateUnique(directive.arguments, of: "@\(directive.name.value)", &issues)
        }
        for type in typesAndExtensions {
            for field in type.fieldDefinitions {
                validateUnique(
                    field.arguments, of: "\(type.name.value).\(field.name.value)", &issues)
            }
        }
    }

    private func validateUnique(
        _ arguments: [InputValueDefinition], of parent: String, _ issues: inout SchemaIssues
    ) {
        for (name, locations) in arguments.repeatedNames(\.name) {
            issues.report(
                "Argument \"\(parent)(\(name):)\" can only be defined once.", at: locations)
        }
    }
}
