// GraphQL §3.10: input objects, @oneOf, and the two ways in which they can be impossible to write.

extension Schema {
    func validateInputFields(of type: NamedType, _ issues: inout SchemaIssues) {
        if type.inputFields.isEmpty {
            issues.report(
                "Input Object type \(type.name) must define one or more fields.",
                at: type.locations)
        }
        for field in type.inputFields {
            let coordinate = "\(type.name).\(field.name)"
            validateInput(
                field, coordinate, "input field", typeErrorAt: field.typeLocation, &issues)
            guard type.isOneOf else { continue }
            if field.type.isNonNull {
                issues.report(
                    "OneOf input field \(coordinate) must be nullable.", at: field.typeLocation)
            }
            if field.defaultValue != nil {
                issues.report(
                    "OneOf input field \(coordinate) cannot have a default value.",
                    at: field.location)
            }
        }
    }

    /// An input object that must contain itself can never be written.
    func validateInputObjectCycles(_ issues: inout SchemaIssues) {
        var search = NonNullCycleSearch(schema: self)
        for type in types where type.kind == .inputObject {
            search.visit(type, &issues)
        }
    }

    /// Default values that contain one another never end.
    func validateDefaultValueCycles(_ issues: inout SchemaIssues) {
        var search = DefaultValueCycleSearch(schema: self)
        for type in types where type.kind == .inputObject {
            search.visit(type, Value(.object([])), &issues)
        }
    }
}

/// Searches depth first along fields of type `InputObject!`; meeting a type again on the way is a
/// cycle.
private struct NonNullCycleSearch {
    let schema: Schema
    var visited: Set<TypeID> = []
    var path: [SchemaInputValue] = []
    var depths: [TypeID: Int] = [:]

    mutating func visit(_ type: NamedType, _ issues: inout SchemaIssues) {
        guard visited.insert(type.id).inserted else { return }
        depths[type.id] = path.count
        for field in type.inputFields {
            guard case .nonNull(.named(let id)) = field.type, schema[id].kind == .inputObject
            else { continue }
            path.append(field)
            if let depth = depths[id] {
                let cycle = path[depth...]
                issues.report(
                    "Cannot reference Input Object \"\(schema[id].name)\" within itself through "
                        + "a series of non-null fields: "
                        + "\"\(cycle.map(\.name).joined(separator: "."))\".",
                    at: cycle.map(\.location))
            } else {
                visit(schema[id], &issues)
            }
            path.removeLast()
        }
        depths[type.id] = nil
    }
}

/// Fills in defaults as coercion would, starting from `{}`; a default that is needed to fill in
/// itself is a cycle.
private struct DefaultValueCycleSearch {
    let schema: Schema
    var visited: Set<String> = []
    var path: [(coordinate: String, location: Int)] = []
    var depths: [String: Int] = [:]

    mutating func visit(_ type: NamedType, _ value: Value, _ issues: inout SchemaIssues) {
        switch value.kind {
        case .list(let values):
            for value in values { visit(type, value, &issues) }
        case .object(let given):
            for field in type.inputFields {
                let fieldType = schema[field.namedType]
                guard fieldType.kind == .inputObject else { continue }
                if let written = given.first(where: { $0.name.value == field.name }) {
                    visit(fieldType, written.value, &issues)
                } else {
                    visitDefault(of: field, fieldType, "\(type.name).\(field.name)", &issues)
                }
            }
        default: break
        }
    }

    private mutating func visitDefault(
        of field: SchemaInputValue, _ type: NamedType, _ coordinate: String,
        _ issues: inout SchemaIssues
    ) {
        guard let defaultValue = field.defaultValue else { return }
        if let depth = depths[coordinate] {
            let others = path[(depth + 1)...].map(\.coordinate)
            issues.report(
                "Invalid circular reference. The default value of Input Object field "
                    + "\(coordinate) references itself"
                    + wrap(" via the default values of: ", others.joined(separator: ", ")) + ".",
                at: path[depth...].map(\.location))
            return
        }
        guard visited.insert(coordinate).inserted else { return }
        depths[coordinate] = path.count
        path.append((coordinate, defaultValue.location))
        visit(type, defaultValue, &issues)
        path.removeLast()
        depths[coordinate] = nil
    }
}
