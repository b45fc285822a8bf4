import GraphQLLanguage

/// Data has one pointer to a fragment, so that it has one set of arguments in one record.
enum SpreadRule {
    static func check(_ spread: TypedSpread, _ place: SelectionPlace, _ context: RuleContext) {
        if spread.isUnmasked || spread.alias != nil { return }
        let use = DataNames.Use(
            type: place.type, location: spread.location, arguments: spread.arguments.key)
        let other = place.data.spreads.first(spread.name, on: place.type, context.schema) {
            $0.arguments != use.arguments
        }
        if let other {
            context.report(
                "Fragment \"\(spread.name)\" is spread with different arguments in the same place: its "
                    + "data would be read with one of them. Give one of the spreads a name with @alias.",
                at: other.location, spread.location)
        }
        place.data.spreads.add(spread.name, use)
    }
}
