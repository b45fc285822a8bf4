package import RelayJSON

extension Schema {
    /// Builds a schema from a server's answer to `introspectionQuery`.
    ///
    /// - Parameter result: the whole response, its `data`, or the `__schema` object.
    /// - Throws: what the result lacks, or what is wrong with the schema it describes; without
    ///   locations, as there is no document.
    package static func build(introspection result: JSONValue) throws(SchemaErrors) -> Schema {
        var builder = SchemaBuilder()
        do throws(DocumentError) {
            let schema = (result["data"] ?? result)["__schema"] ?? result
            builder.add(try IntrospectionReader(schema).definitions())
        } catch {
            throw SchemaErrors(errors: [SchemaError(error.message)])
        }
        return try builder.build()
    }
}

/// Converts an introspection result back into the definitions that it describes.
private struct IntrospectionReader {
    /// A JSON object and the path to it, for messages.
    private struct Node {
        let value: JSONValue
        let path: String

        subscript(key: String) -> Node {
            Node(value: value[key] ?? .null, path: "\(path).\(key)")
        }

        func text() throws(DocumentError) -> String {
            guard let text = value.string else { throw lack("a string") }
            return text
        }

        /// The elements of a list; none if it is null.
        func elements() throws(DocumentError) -> [Node] {
            if value.isNull { return [] }
            guard let elements = value.array else { throw lack("a list") }
            return elements.enumerated().map { Node(value: $1, path: "\(path)[\($0)]") }
        }

        func lack(_ what: String) -> DocumentError {
            DocumentError(
                "The introspection result cannot be read: \(path) should be \(what), "
                    + "but it is \(value.text).")
        }
    }

    private let schema: Node

    init(_ schema: JSONValue) {
        self.schema = Node(value: schema, path: "__schema")
    }

    func definitions() throws(DocumentError) -> [Definition] {
        guard schema.value.object != nil else { throw schema.lack("an object") }
        var definitions: [Definition] = [.schema(try schemaDefinition())]
        for node in try schema["types"].elements() {
            let name = try node["name"].text()
            if name.hasPrefix("__") || BuiltInDefinitions.scalarNames.contains(name) { continue }
            definitions.append(.type(try typeDefinition(node)))
        }
        for node in try schema["directives"].elements() {
            let name = try node["name"].text()
            if DirectiveDefinition.specifiedNames.contains(name) { continue }
            definitions.append(.directive(try directiveDefinition(node)))
        }
        return definitions
    }

    // MARK: Definitions

    private func schemaDefinition() throws(DocumentError) -> SchemaDefinition {
        var operationTypes: [OperationTypeDefinition] = []
        for operation in OperationType.allCases {
            let type = schema["\(operation.rawValue)Type"]
            if type.value.isNull { continue }
            operationTypes.append(
                OperationTypeDefinition(
                    operation: operation, type: try name(type), location: 0))
        }
        return SchemaDefinition(
            isExtension: false, description: description(schema), directives: [],
            operationTypes: operationTypes, location: 0)
    }

    private func typeDefinition(_ node: Node) throws(DocumentError) -> TypeDefinition {
        TypeDefinition(
            isExtension: false, description: description(node), name: try name(node),
            directives: typeDirectives(node), body: try body(node), location: 0)
    }

    private func body(_ node: Node) throws(DocumentError) -> TypeDefinition.Body {
        let kind = node["kind"]
        switch TypeKind(rawValue: try kind.text()) {
        case .scalar: return .scalar
        case .object:
            return .object(
                interfaces: try names(node["interfaces"]), fields: try fields(node["fields"]))
        case .interface:
            return .interface(
                interfaces: try names(node["interfaces"]), fields: try fields(node["fields"]))
        case .union: return .union(members: try names(node["possibleTypes"]))
        case .enum: return .enum(values: try enumValues(node["enumValues"]))
        case .inputObject: return .inputObject(fields: try inputValues(node["inputFields"]))
        case nil: throw kind.lack("the kind of a named type")
        }
    }

    private func directiveDefinition(_ node: Node) throws(DocumentError) -> DirectiveDefinition {
        var locations: [DirectiveLocation] = []
        for element in try node["locations"].elements() {
            guard let location = DirectiveLocation(rawValue: try element.text()) else {
                throw element.lack("a place for directives")
            }
            locations.append(location)
        }
        return DirectiveDefinition(
            description: description(node), name: try name(node),
            arguments: try inputValues(node["args"]),
            isRepeatable: node["isRepeatable"].value.bool ?? false, locations: locations,
            location: 0)
    }

    // MARK: Members

    private func fields(_ node: Node) throws(DocumentError) -> [FieldDefinition] {
        try node.elements().map { (node) throws(DocumentError) in
            FieldDefinition(
                description: description(node), name: try name(node),
                arguments: try inputValues(node["args"]), type: try type(node["type"]),
                directives: deprecation(node), location: 0)
        }
    }

    private func inputValues(_ node: Node) throws(DocumentError) -> [InputValueDefinition] {
        try node.elements().map { (node) throws(DocumentError) in
            let text = node["defaultValue"].value.string
            return InputValueDefinition(
                description: description(node), name: try name(node),
                type: try type(node["type"]),
                defaultValue: try text.map { (text) throws(DocumentError) in
                    try Value(parsing: text)
                }, directives: deprecation(node), location: 0)
        }
    }

    private func enumValues(_ node: Node) throws(DocumentError) -> [EnumValueDefinition] {
        try node.elements().map { (node) throws(DocumentError) in
            EnumValueDefinition(
                description: description(node), name: try name(node),
                directives: deprecation(node), location: 0)
        }
    }

    private func type(_ node: Node) throws(DocumentError) -> TypeReference {
        switch node["kind"].value.string {
        case "LIST": return .list(try type(node["ofType"]), location: 0)
        case "NON_NULL":
            let inner = try type(node["ofType"])
            if case .nonNull = inner { throw node["ofType"].lack("a type without `!`") }
            return .nonNull(inner)
        default: return .named(try name(node))
        }
    }

    // MARK: Parts

    private func name(_ node: Node) throws(DocumentError) -> Name {
        Name(try node["name"].text())
    }

    private func names(_ node: Node) throws(DocumentError) -> [Name] {
        try node.elements().map { (node) throws(DocumentError) in try name(node) }
    }

    private func description(_ node: Node) -> StringLiteral? {
        node["description"].value.string.map { StringLiteral($0) }
    }

    private func deprecation(_ node: Node) -> [Directive] {
        guard node["isDeprecated"].value.bool == true else { return [] }
        return [directive("deprecated", "reason", node["deprecationReason"].value.string)]
    }

    private func typeDirectives(_ node: Node) -> [Directive] {
        var directives: [Directive] = []
        if let url = node["specifiedByURL"].value.string {
            directives.append(directive("specifiedBy", "url", url))
        }
        if node["isOneOf"].value.bool == true { directives.append(directive("oneOf")) }
        return directives
    }

    private func directive(
        _ name: String, _ argument: String = "", _ value: String? = nil
    ) -> Directive {
        let arguments = value.map {
            [Argument(name: Name(argument), value: Value(.string($0, isBlock: false)))]
        }
        return Directive(name: Name(name), arguments: arguments ?? [], location: 0)
    }
}
