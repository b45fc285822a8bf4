/// Field selections (GraphQL §5.3.1): only fields that the type has.
enum FieldsOnCorrectTypeRule {
    /// - Parameter field: one that `type` does not have.
    static func check(_ field: Field, on type: NamedType, _ context: ValidationContext) {
        context.report(
            "Cannot query field \"\(field.name.value)\" on type \"\(type.name)\"."
                + suggestion(field.name.value, type, context.schema),
            at: field.location)
    }

    private static func suggestion(
        _ name: String, _ type: NamedType, _ schema: Schema
    ) -> String {
        let types = typesWith(name, among: type, schema)
        if !types.isEmpty {
            return didYouMean(types.map(\.name), "to use an inline fragment on")
        }
        return didYouMean(suggestions(for: name, among: type.fields.map(\.name)))
    }

    /// The possible types of an abstract type, and their interfaces, that have the field. Those
    /// that cover the most possible types come first.
    private static func typesWith(
        _ name: String, among type: NamedType, _ schema: Schema
    ) -> [NamedType] {
        guard type.kind.isAbstract else { return [] }
        var coverage: [TypeID: Int] = [:]
        for possible in schema.possibleTypes(of: type.id).map({ schema[$0] })
        where possible.field(name) != nil {
            coverage[possible.id] = 1
            for interface in possible.interfaces where schema[interface].field(name) != nil {
                coverage[interface, default: 0] += 1
            }
        }
        return coverage.keys.sorted { left, right in
            if let a = coverage[left], let b = coverage[right], a != b { return a > b }
            if schema.isSubType(right, of: left) { return true }
            if schema.isSubType(left, of: right) { return false }
            return naturallyPrecedes(schema[left].name, schema[right].name)
        }
        .map { schema[$0] }
    }
}
