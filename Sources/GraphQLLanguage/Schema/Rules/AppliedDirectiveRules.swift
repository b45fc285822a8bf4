// GraphQL §5.7 for the directives in type-system documents. graphql-js' rules KnownDirectives,
// UniqueDirectivesPerLocation, UniqueArgumentNames, UniqueInputFieldNames,
// KnownArgumentNamesOnDirectives and ProvidedRequiredArgumentsOnDirectives.

/// Something that can have directives, and the directives it has.
struct DirectiveSite {
    let place: DirectiveLocation
    let directives: [Directive]
}

extension TypeSystemDocument {
    func validateAppliedDirectives(_ issues: inout SchemaIssues) {
        var definitions: [String: DirectiveDefinition] = [:]
        // The first definition counts, but a document may replace one of the specification's.
        for directive in directives.filter({ $0.origin != .builtIn })
            + directives.filter({ $0.origin == .builtIn })
        where definitions[directive.node.name.value] == nil {
            definitions[directive.node.name.value] = directive.node
        }
        for site in directiveSites where !site.directives.isEmpty {
            for directive in site.directives {
                validate(directive, at: site.place, definitions, &issues)
            }
            validateUnique(site.directives, definitions, &issues)
        }
    }

    /// Everything that can have directives. A type and its extensions are one site.
    var directiveSites: [DirectiveSite] {
        var sites = [DirectiveSite(place: .schema, directives: schemas.flatMap(\.directives))]
        var byType: [String: Int] = [:]
        for type in typesAndExtensions {
            let name = type.name.value
            if let index = byType[name], sites[index].place == type.kind.directiveLocation {
                sites[index] = DirectiveSite(
                    place: sites[index].place,
                    directives: sites[index].directives + type.directives)
            } else {
                byType[name] = sites.count
                sites.append(
                    DirectiveSite(
                        place: type.kind.directiveLocation, directives: type.directives))
            }
            for field in type.fieldDefinitions {
                sites.append(DirectiveSite(place: .fieldDefinition, directives: field.directives))
                sites += field.arguments.map {
                    DirectiveSite(place: .argumentDefinition, directives: $0.directives)
                }
            }
            sites += type.valueDefinitions.map {
                DirectiveSite(place: .enumValue, directives: $0.directives)
            }
            sites += type.inputFieldDefinitions.map {
                DirectiveSite(place: .inputFieldDefinition, directives: $0.directives)
            }
        }
        for argument in directives.flatMap(\.node.arguments) {
            sites.append(
                DirectiveSite(place: .argumentDefinition, directives: argument.directives))
        }
        return sites
    }

    // MARK: One directive

    private func validate(
        _ directive: Directive, at place: DirectiveLocation,
        _ definitions: [String: DirectiveDefinition], _ issues: inout SchemaIssues
    ) {
        let name = directive.name.value
        for (name, locations) in directive.arguments.repeatedNames(\.name) {
            issues.report("There can be only one argument named \"\(name)\".", at: locations)
        }
        for argument in directive.arguments {
            validateUniqueInputFields(argument.value, &issues)
        }
        guard let definition = definitions[name] else {
            let known = definitions.values.filter { $0.locations.contains(place) }
                .map { "@\($0.name.value)" }
            issues.report(
                "Unknown directive \"@\(name)\"."
                    + didYouMean(suggestions(for: "@\(name)", among: known)),
                at: directive.location)
            return
        }
        if !definition.locations.contains(place) {
            issues.report(
                "Directive \"@\(name)\" may not be used on \(place.rawValue).",
                at: directive.location)
        }
        let known = definition.arguments.map(\.name.value)
        for argument in directive.arguments where !known.contains(argument.name.value) {
            issues.report(
                "Unknown argument \"\(argument.name.value)\" on directive \"@\(name)\"."
                    + didYouMean(suggestions(for: argument.name.value, among: known)),
                at: argument.location)
        }
        for argument in definition.arguments
        where argument.isRequired && directive.argument(argument.name.value) == nil {
            issues.report(
                "Directive \"@\(name)\" argument \"\(argument.name.value)\" of type "
                    + "\"\(argument.type)\" is required, but it was not provided.",
                at: directive.location)
        }
    }

    private func validateUniqueInputFields(_ value: Value, _ issues: inout SchemaIssues) {
        switch value.kind {
        case .list(let values):
            for value in values { validateUniqueInputFields(value, &issues) }
        case .object(let fields):
            var seen: [String: Int] = [:]
            for field in fields {
                if let first = seen[field.name.value] {
                    issues.report(
                        "There can be only one input field named \"\(field.name.value)\".",
                        at: [first, field.location])
                } else {
                    seen[field.name.value] = field.location
                }
                validateUniqueInputFields(field.value, &issues)
            }
        default: break
        }
    }

    // MARK: Directives on the same site

    private func validateUnique(
        _ directives: [Directive], _ definitions: [String: DirectiveDefinition],
        _ issues: inout SchemaIssues
    ) {
        var seen: [String: Int] = [:]
        for directive in directives {
            let name = directive.name.value
            guard let definition = definitions[name], !definition.isRepeatable else { continue }
            if let first = seen[name] {
                issues.report(
                    "The directive \"@\(name)\" can only be used once at this location.",
                    at: [first, directive.location])
            } else {
                seen[name] = directive.location
            }
        }
    }
}

extension InputValueDefinition {
    fileprivate var isRequired: Bool {
        if case .nonNull = type { defaultValue == nil } else { false }
    }
}

extension TypeKind {
    var directiveLocation: DirectiveLocation {
        switch self {
        case .scalar: .scalar
        case .object: .object
        case .interface: .interface
        case .union: .union
        case .enum: .enum
        case .inputObject: .inputObject
        }
    }
}
