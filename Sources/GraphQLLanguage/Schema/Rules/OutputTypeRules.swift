// GraphQL §3.6 to §3.9: objects, interfaces, unions, enums.

extension Schema {
    func validateFields(of type: NamedType, _ issues: inout SchemaIssues) {
        if type.fields.isEmpty {
            issues.report("Type \(type.name) must define one or more fields.", at: type.locations)
        }
        for field in type.fields {
            let coordinate = "\(type.name).\(field.name)"
            validateName(field.name, at: field.location, &issues)
            if isKnown(field.type), !self[field.namedType].kind.isOutput {
                issues.report(
                    "The type of \(coordinate) must be Output Type "
                        + "but got: \(print(field.type)).", at: field.typeLocation)
            }
            for argument in field.arguments {
                validateInput(
                    argument, "\(coordinate)(\(argument.name):)", "argument",
                    typeErrorAt: argument.typeLocation, &issues)
            }
        }
    }

    func validateMembers(
        of type: NamedType, _ document: TypeSystemDocument, _ issues: inout SchemaIssues
    ) {
        if type.members.isEmpty {
            issues.report(
                "Union type \(type.name) must define one or more member types.",
                at: type.locations)
        }
        let mentions = document.parts(of: type).flatMap(\.memberNames)
        var seen: Set<TypeID> = []
        for member in type.members.map({ self[$0] }) where member.origin != .missing {
            let places = mentions.filter { $0.value == member.name }.map(\.location)
            if !seen.insert(member.id).inserted {
                issues.report(
                    "Union type \(type.name) can only include type \(member.name) once.",
                    at: places)
            } else if member.kind != .object {
                issues.report(
                    "Union type \(type.name) can only include Object types, "
                        + "it cannot include \(member.name).", at: places)
            }
        }
    }

    func validateValues(of type: NamedType, _ issues: inout SchemaIssues) {
        if type.values.isEmpty {
            issues.report(
                "Enum type \(type.name) must define one or more values.", at: type.locations)
        }
        for value in type.values {
            validateName(value.name, at: value.location, &issues)
        }
    }
}

extension TypeSystemDocument {
    /// The definition of a type and its extensions.
    func parts(of type: NamedType) -> [TypeDefinition] {
        typesAndExtensions.filter { $0.name.value == type.name && $0.kind == type.kind }
    }
}
