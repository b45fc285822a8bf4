// GraphQL §3.6.1 (IsValidImplementation): a type that declares an interface must implement it.

extension Schema {
    func validateInterfaces(
        of type: NamedType, _ document: TypeSystemDocument, _ issues: inout SchemaIssues
    ) {
        guard !type.interfaces.isEmpty else { return }
        var seen: Set<TypeID> = []
        for interface in type.interfaces.map({ self[$0] }) where interface.origin != .missing {
            let mentions = document.mentions(of: interface, by: type)
            if interface.kind != .interface {
                issues.report(
                    "Type \(type.name) must only implement Interface types, "
                        + "it cannot implement \(interface.name).", at: mentions)
            } else if interface.id == type.id {
                issues.report(
                    "Type \(type.name) cannot implement itself because it would create "
                        + "a circular reference.", at: mentions)
            } else if !seen.insert(interface.id).inserted {
                issues.report(
                    "Type \(type.name) can only implement \(interface.name) once.", at: mentions)
            } else {
                validateAncestors(of: interface, for: type, document, &issues)
                for field in interface.fields {
                    validateImplementation(of: field, interface, by: type, &issues)
                }
            }
        }
    }

    /// What the interface implements must be declared as well.
    private func validateAncestors(
        of interface: NamedType, for type: NamedType, _ document: TypeSystemDocument,
        _ issues: inout SchemaIssues
    ) {
        for ancestor in interface.interfaces.map({ self[$0] })
        where !type.interfaces.contains(ancestor.id) {
            issues.report(
                ancestor.id == type.id
                    ? "Type \(type.name) cannot implement \(interface.name) "
                        + "because it would create a circular reference."
                    : "Type \(type.name) must implement \(ancestor.name) "
                        + "because it is implemented by \(interface.name).",
                at: document.mentions(of: ancestor, by: interface)
                    + document.mentions(of: interface, by: type))
        }
    }

    private func validateImplementation(
        of expected: SchemaField, _ interface: NamedType, by type: NamedType,
        _ issues: inout SchemaIssues
    ) {
        let expectedName = "\(interface.name).\(expected.name)"
        let name = "\(type.name).\(expected.name)"
        guard let field = type.field(expected.name) else {
            issues.report(
                "Interface field \(expectedName) expected but \(type.name) does not provide it.",
                at: [expected.location] + type.locations)
            return
        }
        if isKnown(field.type), isKnown(expected.type),
            !isSubType(field.type, of: expected.type)
        {
            issues.report(
                "Interface field \(expectedName) expects type \(print(expected.type)) "
                    + "but \(name) is type \(print(field.type)).",
                at: [expected.typeLocation, field.typeLocation])
        }
        for argument in expected.arguments {
            validateImplementation(
                of: argument, expectedName, by: field, name, &issues)
        }
        for argument in field.arguments
        where argument.isRequired && expected.argument(argument.name) == nil {
            issues.report(
                "Object field \(name) includes required argument \(argument.name) "
                    + "that is missing from the Interface field \(expectedName).",
                at: [argument.location, expected.location])
        }
        if let deprecated = field.directives.named("deprecated"), expected.deprecationReason == nil
        {
            issues.report(
                "Interface field \(expectedName) is not deprecated, so "
                    + "implementation field \(name) must not be deprecated.",
                at: [deprecated.location, field.typeLocation])
        }
    }

    private func validateImplementation(
        of expected: SchemaInputValue, _ expectedName: String, by field: SchemaField,
        _ name: String, _ issues: inout SchemaIssues
    ) {
        let label = "Interface field argument \(expectedName)(\(expected.name):)"
        guard let argument = field.argument(expected.name) else {
            issues.report(
                "\(label) expected but \(name) does not provide it.",
                at: [expected.location, field.location])
            return
        }
        // Arguments do not vary: the types must be the same.
        if isKnown(argument.type), isKnown(expected.type), argument.type != expected.type {
            issues.report(
                "\(label) expects type \(print(expected.type)) "
                    + "but \(name)(\(expected.name):) is type \(print(argument.type)).",
                at: [expected.typeLocation, argument.typeLocation])
        }
    }
}

extension TypeSystemDocument {
    /// Where `type` declares to implement `interface`.
    fileprivate func mentions(of interface: NamedType, by type: NamedType) -> [Int] {
        parts(of: type).flatMap(\.interfaceNames).filter { $0.value == interface.name }
            .map(\.location)
    }
}
