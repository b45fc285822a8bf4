/// Leaf field selections (GraphQL §5.3.3): braces after objects, and only after objects.
enum ScalarLeafsRule {
    static func check(
        _ field: Field, _ definition: SchemaField, _ context: ValidationContext
    ) {
        let isLeaf = context.schema[definition.namedType].kind.isLeaf
        let name = field.name.value
        if isLeaf, let selectionSet = field.selectionSet {
            context.report(
                "Field \"\(name)\" must not have a selection since type "
                    + "\"\(context.schema.print(definition.type))\" has no subfields.",
                at: selectionSet.location)
        } else if !isLeaf, field.selectionSet == nil {
            context.report(
                "Field \"\(name)\" of type \"\(context.schema.print(definition.type))\" "
                    + "must have a selection of subfields. Did you mean \"\(name) { ... }\"?",
                at: field.location)
        }
    }
}
