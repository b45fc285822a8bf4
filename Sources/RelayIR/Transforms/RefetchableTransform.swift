import GraphQLLanguage
import RelayArtifacts

/// Generates the query for `@refetchable(queryName:)`: the same fragment, on the record that it was
/// read from, with the fragment's arguments as variables.
enum RefetchableTransform {
    static func apply(to context: inout DocumentContext) throws(RelayDocumentErrors) {
        for fragment in context.fragmentsInOrder {
            guard let description = try description(of: fragment, in: context) else { continue }
            context.operations.append(try query(fragment, description, context))
        }
    }

    /// nil without `@refetchable`.
    static func description(
        of fragment: FragmentDefinition, in context: DocumentContext
    ) throws(RelayDocumentErrors) -> RefetchDescription? {
        guard let directive = fragment.directives.named("refetchable") else { return nil }
        guard let name = directive.argument("queryName")?.string else {
            throw context.error(
                "Expected @refetchable to have a \"queryName\".", at: directive.location)
        }
        let schema = context.schema
        let type = try context.compositeType(fragment.typeCondition)
        if type.id == schema.queryType { return RefetchDescription(operation: name, path: []) }
        let query = schema.queryType.map { schema[$0] }
        if type.name == "Viewer", query?.field("viewer") != nil {
            return RefetchDescription(operation: name, path: ["viewer"])
        }
        if let node = schema.type(named: "Node"), schema.isSubType(type.id, of: node.id),
            query?.field("node") != nil
        {
            return RefetchDescription(operation: name, path: ["node"], identifierField: "id")
        }
        throw context.error(
            "Cannot refetch fragment \"\(fragment.name.value)\": "
                + "\"\(type.name)\" is neither Query nor Viewer nor a Node.", at: directive.location
        )
    }

    private static func query(
        _ fragment: FragmentDefinition, _ description: RefetchDescription,
        _ context: DocumentContext
    ) throws(RelayDocumentErrors) -> OperationDefinition {
        let declared = (fragment.directives.named("argumentDefinitions")?.arguments ?? [])
            .compactMap(ArgumentDeclaration.init)
        var variables = declared.map {
            "$\($0.name): \($0.type)" + ($0.defaultValue.map { " = " + $0.printed() } ?? "")
        }
        var usage = FragmentVariables(context: context, followsSpreads: true)
        try usage.collect(fragment)
        for name in usage.names {
            guard let type = usage.types[name] else { continue }
            variables.append("$\(name): \(context.schema.print(type))")
        }
        let arguments = declared.map { "\($0.name): $\($0.name)" }.joined(separator: ", ")
        var body =
            "..." + fragment.name.value + (arguments.isEmpty ? "" : " @arguments(\(arguments))")
        if let field = description.path.first {
            let isByID = description.identifierField != nil
            if isByID { variables.append("$id: ID!") }
            body = "\(field)\(isByID ? "(id: $id)" : "") { \(body) }"
        }
        let list = variables.isEmpty ? "" : "(\(variables.joined(separator: ", ")))"
        do throws(DocumentError) {
            let document = try Document(
                parsing: "query \(description.operation)\(list) { \(body) }")
            if let operation = document.operations.first { return operation }
        } catch {
            throw RelayDocumentErrors([error])
        }
        throw context.error(
            "Cannot make the query \"\(description.operation)\".", at: fragment.location)
    }
}
