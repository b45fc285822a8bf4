import GraphQLLanguage

/// `@alias` gives a fragment a name in the data of its reader, which nothing else there has: in no data of a record that
/// has the fragment's.
enum AliasRule {
    static func check(_ field: TypedField, _ place: SelectionPlace, _ context: RuleContext) {
        let name = field.responseName
        checkName(of: field, context)
        if let alias = place.data.aliases.first(name, on: place.type, context.schema) {
            report(name, alias.location, field.location, context)
        }
        place.data.fields.add(name, .init(type: place.type, location: field.location))
    }

    /// The names that say which record a response is about, and those that are GraphQL's own, mean the same everywhere.
    private static func checkName(of field: TypedField, _ context: RuleContext) {
        guard let alias = field.alias else { return }
        if alias.hasPrefix("__") {
            context.report(
                "Field \"\(field.name)\" cannot have the alias \"\(alias)\": names that begin with two "
                    + "underscores are GraphQL's own.", at: field.location)
        } else if alias == "id", field.name != "id" || !field.arguments.isEmpty {
            context.report(
                "Field \"\(field.name)\" cannot have the alias \"id\": records are found by their \"id\".",
                at: field.location)
        }
    }

    static func check(_ spread: TypedSpread, _ place: SelectionPlace, _ context: RuleContext) {
        guard let directive = spread.directives.named("alias") else { return }
        check(directive, spread.alias ?? "", place, context)
        if spread.isUnmasked {
            context.report(
                "Fragment \"\(spread.name)\" cannot be spread with both @alias and @relay(mask: false).",
                at: directive.location)
        }
    }

    /// - Returns: the name; nil without `@alias`.
    static func check(
        _ fragment: TypedInlineFragment, _ place: SelectionPlace, _ context: RuleContext
    ) -> String? {
        guard let directive = fragment.directives.named("alias") else { return nil }
        guard let name = fragment.alias else {
            context.report(
                "Expected @alias of an inline fragment without a type condition to say its name: "
                    + "@alias(as: \"name\").", at: directive.location)
            return nil
        }
        check(directive, name, place, context)
        return name
    }

    private static func check(
        _ directive: Directive, _ name: String, _ place: SelectionPlace, _ context: RuleContext
    ) {
        if !name.isGraphQLName || name.hasPrefix("__") {
            context.report(
                "Expected \"as\" of @alias to be a name, not \"\(name)\".",
                at: directive.argument("as")?.location ?? directive.location)
        }
        let data = place.data
        let other =
            data.fields.first(name, on: place.type, context.schema)
            // An unmasked fragment may be written out here twice.
            ?? data.aliases.first(name, on: place.type, context.schema) {
                $0.location != directive.location
            }
        if let other { report(name, directive.location, other.location, context) }
        data.aliases.add(name, .init(type: place.type, location: directive.location))
    }

    private static func report(
        _ name: String, _ alias: Int, _ other: Int, _ context: RuleContext
    ) {
        context.report("Two selections are named \"\(name)\" by @alias.", at: alias, other)
    }
}

extension TypedSpread {
    /// The name that `@alias` gives to it: that of the fragment, if it says no other.
    var alias: String? {
        directives.named("alias").map { $0.argument("as")?.string ?? fragment.name.value }
    }
}

extension TypedInlineFragment {
    /// The name that `@alias` gives to it: that of the type, if it says no other.
    var alias: String? {
        directives.named("alias").flatMap { $0.argument("as")?.string ?? condition?.name }
    }
}

extension String {
    /// Whether it is a Name (GraphQL §2.1.9).
    var isGraphQLName: Bool {
        guard let first = utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        else { return false }
        return utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
