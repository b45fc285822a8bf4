// GraphQL §3, the "Type Validation" parts: graphql-js' validateSchema.

extension Schema {
    func validate(_ document: TypeSystemDocument, _ issues: inout SchemaIssues) {
        validateRootTypes(document, &issues)
        validateDirectiveDefinitions(&issues)
        for type in types where type.origin == .predefined || type.origin == .document {
            validateName(type.name, at: type.locations[0], &issues)
            switch type.kind {
            case .object, .interface:
                validateFields(of: type, &issues)
                validateInterfaces(of: type, document, &issues)
            case .union: validateMembers(of: type, document, &issues)
            case .enum: validateValues(of: type, &issues)
            case .inputObject: validateInputFields(of: type, &issues)
            case .scalar: break
            }
        }
        validateInputObjectCycles(&issues)
        validateDefaultValueCycles(&issues)
        validateDirectiveArguments(document, &issues)
    }

    /// An undefined type has been reported; nothing more is said about it.
    func isKnown(_ type: WrappedType) -> Bool { self[type.namedType].origin != .missing }

    func validateName(_ name: String, at location: Int, _ issues: inout SchemaIssues) {
        if name.hasPrefix("__") {
            issues.report(
                "Name \"\(name)\" must not begin with \"__\", "
                    + "which is reserved by GraphQL introspection.", at: location)
        }
    }

    // MARK: Root types

    private func validateRootTypes(
        _ document: TypeSystemDocument, _ issues: inout SchemaIssues
    ) {
        var places: [OperationType: Int] = [:]
        for operationType in document.schemas.flatMap(\.operationTypes)
        where places[operationType.operation] == nil {
            places[operationType.operation] = operationType.type.location
        }
        if queryType == nil {
            let schema = document.schemas.first { !$0.isExtension }
            issues.report(
                "Query root type must be provided.", at: schema.map { [$0.location] } ?? [])
        }
        var uses: [TypeID: [OperationType]] = [:]
        for operation in OperationType.allCases {
            guard let type = rootType(of: operation), type.origin != .missing else { continue }
            uses[type.id, default: []].append(operation)
            guard type.kind != .object else { continue }
            let role = operation.defaultRootTypeName + " root type must be Object type"
            issues.report(
                role + (operation == .query ? "" : " if provided")
                    + ", it cannot be \(type.name).",
                at: places[operation] ?? type.locations[0])
        }
        for (type, operations) in uses where operations.count > 1 && self[type].kind == .object {
            let list =
                operations.count == 2
                ? "\(operations[0].rawValue) and \(operations[1].rawValue)"
                : "\(operations[0].rawValue), \(operations[1].rawValue), "
                    + "and \(operations[2].rawValue)"
            issues.report(
                "All root types must be different, \"\(self[type].name)\" type is used as "
                    + "\(list) root types.", at: operations.compactMap { places[$0] })
        }
    }

    // MARK: Directives

    private func validateDirectiveDefinitions(_ issues: inout SchemaIssues) {
        for directive in directiveDefinitions {
            validateName(directive.name, at: directive.location, &issues)
            for argument in directive.arguments {
                let coordinate = "@\(directive.name)(\(argument.name):)"
                // Here graphql-js points at the argument, elsewhere at its type.
                validateInput(
                    argument, coordinate, "argument", typeErrorAt: argument.location, &issues)
            }
        }
    }

    /// The argument values of directives; that the arguments exist was checked before.
    private func validateDirectiveArguments(
        _ document: TypeSystemDocument, _ issues: inout SchemaIssues
    ) {
        for directive in document.directiveSites.flatMap(\.directives) {
            guard let definition = self.directive(named: directive.name.value) else { continue }
            for argument in directive.arguments {
                guard let known = definition.argument(argument.name.value), isKnown(known.type)
                else { continue }
                validateConstant(argument.value, as: known.type) { message, location in
                    issues.report(message, at: location)
                }
            }
        }
    }

    // MARK: Input values

    /// Rules for both arguments and input fields. `role` is "argument" or "input field".
    func validateInput(
        _ input: SchemaInputValue, _ coordinate: String, _ role: String, typeErrorAt place: Int,
        _ issues: inout SchemaIssues
    ) {
        validateName(input.name, at: input.location, &issues)
        guard isKnown(input.type) else { return }
        guard self[input.namedType].kind.isInput else {
            issues.report(
                "The type of \(coordinate) must be Input Type but got: \(print(input.type)).",
                at: place)
            return
        }
        if input.isRequired, let deprecated = input.directives.named("deprecated") {
            issues.report(
                "Required \(role) \(coordinate) cannot be deprecated.",
                at: [deprecated.location, input.typeLocation])
        }
        guard let defaultValue = input.defaultValue else { return }
        validateConstant(defaultValue, as: input.type) { message, location in
            issues.report("\(coordinate) has invalid default value: \(message)", at: location)
        }
    }
}
