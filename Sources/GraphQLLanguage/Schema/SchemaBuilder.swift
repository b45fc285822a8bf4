extension Schema {
    /// Builds a schema from the definitions and extensions in `documents`.
    ///
    /// - Parameter predefined: documents whose definitions `documents` may use without defining them. Their types, and
    ///   their directives that only apply to type systems, are hidden from clients.
    /// - Throws: all syntax errors; or else all errors of the definitions and of the resulting schema, with the texts
    ///   of graphql-js; that of an unknown directive also suggests the nearest name.
    package static func build(
        _ documents: [Source], predefined: [Source] = []
    ) throws(SchemaErrors) -> Schema {
        let (schema, errors) = try assemble(documents, predefined: predefined)
        guard errors.isEmpty else { throw SchemaErrors(errors: errors) }
        return schema
    }

    /// What ``build(_:predefined:)-([Source],_)`` makes of documents, for a caller with further checks on the
    /// schema: with errors, the schema is incomplete and only good for finding more errors.
    /// - Throws: all syntax errors; nothing more can be checked then.
    package static func assemble(
        _ documents: [Source], predefined: [Source] = []
    ) throws(SchemaErrors) -> (schema: Schema, errors: [SchemaError]) {
        var builder = SchemaBuilder()
        for source in predefined { builder.add(source, origin: .predefined) }
        for source in documents { builder.add(source, origin: .document) }
        return try builder.assembleAndValidate()
    }

    /// This schema with more definitions and extensions.
    ///
    /// - Parameters:
    ///   - documents: what is added; ``isAdded(_:)`` is true of their locations.
    ///   - predefined: definitions that they, and documents validated against the schema, may use; those of a name that
    ///     the schema has itself are left out.
    /// - Throws: as ``build(_:predefined:)-([Source],_)``.
    package func extended(
        by documents: [Source], predefined: [Source] = []
    ) throws(SchemaErrors) -> Schema {
        var builder = parts
        for source in predefined {
            builder.add(source, origin: .predefined) { definition in
                switch definition {
                case .type(let type): self.type(named: type.name.value) == nil
                case .directive(let directive): self.directive(named: directive.name.value) == nil
                default: true
                }
            }
        }
        builder.markAdded()
        for source in documents { builder.add(source, origin: .document) }
        return try builder.build()
    }

    /// Builds a schema from one text.
    package static func build(_ text: String) throws(SchemaErrors) -> Schema {
        try build([Source(text)])
    }
}

/// Collects definitions and turns them into a schema.
struct SchemaBuilder: Sendable {
    private var document = TypeSystemDocument()
    /// Where the last document added ends.
    private var end = BuiltInDefinitions.document.source.locations.upperBound
    /// The documents that contain the schema's locations.
    private(set) var sources: [Source] = []
    /// Where the documents begin that extend a schema.
    private(set) var added: Int?
    private var syntaxErrors: [SchemaError] = []

    init() {
        document.add(BuiltInDefinitions.document.definitions, origin: .builtIn)
    }

    mutating func add(
        _ source: Source, origin: Origin, where isIncluded: (Definition) -> Bool = { _ in true }
    ) {
        let source = source.starting(at: end + 1)
        end = source.locations.upperBound
        if origin == .document { sources.append(source) }
        do throws(DocumentError) {
            let definitions = try Document(parsing: source).definitions
            document.add(definitions.filter(isIncluded), origin: origin)
        } catch {
            let places = error.locations.map { SourcePlace(source: source, location: $0) }
            syntaxErrors.append(SchemaError(error.message, at: places))
        }
    }

    /// What follows extends a schema.
    mutating func markAdded() {
        if added == nil { added = end + 1 }
    }

    /// Adds definitions that were made, not parsed.
    mutating func add(_ definitions: [Definition]) {
        document.add(definitions, origin: .document)
    }

    func build() throws(SchemaErrors) -> Schema {
        let (schema, errors) = try assembleAndValidate()
        guard errors.isEmpty else { throw SchemaErrors(errors: errors) }
        return schema
    }

    func assembleAndValidate() throws(SchemaErrors) -> (schema: Schema, errors: [SchemaError]) {
        guard syntaxErrors.isEmpty else { throw SchemaErrors(errors: syntaxErrors) }
        var issues = SchemaIssues()
        document.validate(&issues)
        let schema = assemble()
        schema.validate(document, &issues)
        return (schema, issues.errors(placedIn: schema))
    }

    // MARK: Assembling

    private func assemble() -> Schema {
        let names = TypeNames(document)
        let wiring = SchemaWiring(ids: names.ids)
        var extensions: [String: [TypeDefinition]] = [:]
        for node in document.extensions { extensions[node.name.value, default: []].append(node) }
        let types = names.definitions.enumerated().map { index, definition in
            wiring.type(
                definition, id: TypeID(index: index),
                extensions: extensions[definition.node.name.value] ?? [])
        }
        return Schema(
            description: document.schemas.first { !$0.isExtension }?.description?.value,
            directives: document.schemas.flatMap(\.directives),
            types: types,
            directiveDefinitions: directives.map { wiring.directive($0.node, origin: $0.origin) },
            rootTypes: rootTypes(names.ids),
            metaFields: wiring.type(names.metaFields, id: TypeID(index: 0), extensions: []),
            parts: self)
    }

    /// A document's own definition of a specified directive replaces the specification's.
    private var directives: [TypeSystemDocument.Definition<DirectiveDefinition>] {
        let own = Set(
            document.directives.filter { $0.origin != .builtIn }.map(\.node.name.value))
        return document.directives.compactMap { definition in
            let name = definition.node.name.value
            let isSpecified = DirectiveDefinition.specifiedNames.contains(name)
            if definition.origin == .builtIn { return own.contains(name) ? nil : definition }
            return isSpecified ? .init(node: definition.node, origin: .builtIn) : definition
        }
    }

    /// GraphQL §3.3.1: without a schema definition the root types are identified by name.
    private func rootTypes(_ ids: [String: TypeID]) -> [OperationType: TypeID] {
        var roots: [OperationType: TypeID] = [:]
        for operationType in document.schemas.flatMap(\.operationTypes)
        where roots[operationType.operation] == nil {
            roots[operationType.operation] = ids[operationType.type.value]
        }
        guard document.schemas.allSatisfy(\.isExtension) else { return roots }
        for operation in OperationType.allCases where roots[operation] == nil {
            let name = operation.defaultRootTypeName
            let isDefined = document.types.contains { $0.node.name.value == name }
            roots[operation] = isDefined ? ids[name] : nil
        }
        return roots
    }
}

extension OperationType {
    var defaultRootTypeName: String {
        switch self {
        case .query: "Query"
        case .mutation: "Mutation"
        case .subscription: "Subscription"
        }
    }
}

/// The ids of all types, in order.
private struct TypeNames {
    private(set) var ids: [String: TypeID] = [:]
    private(set) var definitions: [TypeSystemDocument.Definition<TypeDefinition>] = []
    let metaFields: TypeSystemDocument.Definition<TypeDefinition>

    init(_ document: TypeSystemDocument) {
        var mentioned: [String: Int] = [:]
        document.forEachTypeMention { name in
            if mentioned[name.value] == nil { mentioned[name.value] = name.location }
        }
        metaFields = BuiltInDefinitions.metaFields
        for definition in document.types {
            let name = definition.node.name.value
            // GraphQL §3.5: a built-in scalar is only part of schemas that mention it.
            let isUnused =
                definition.origin == .builtIn && definition.node.kind == .scalar
                && mentioned[name] == nil
            let isMetaFields = definition.node === metaFields.node
            if isUnused || isMetaFields { continue }
            add(definition)
        }
        for (name, location) in mentioned.sorted(by: { $0.value < $1.value })
        where ids[name] == nil {
            add(.init(node: .missing(named: name, location: location), origin: .missing))
        }
    }

    /// The first definition of a name is the one that counts; others have been reported.
    private mutating func add(_ definition: TypeSystemDocument.Definition<TypeDefinition>) {
        let name = definition.node.name.value
        guard ids[name] == nil else { return }
        ids[name] = TypeID(index: definitions.count)
        definitions.append(definition)
    }
}

extension TypeDefinition {
    /// Replaces a type that is not defined, so that it is reported only once.
    fileprivate static func missing(named name: String, location: Int) -> TypeDefinition {
        TypeDefinition(
            isExtension: false, description: nil, name: Name(name, location: location),
            directives: [], body: .scalar, location: location)
    }
}
