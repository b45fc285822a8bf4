/// All definitions of a schema, from every document, sorted by kind.
struct TypeSystemDocument: Sendable {
    struct Definition<Node: Sendable>: Sendable {
        let node: Node
        let origin: Origin
    }

    private(set) var schemas: [SchemaDefinition] = []
    private(set) var types: [Definition<TypeDefinition>] = []
    private(set) var extensions: [TypeDefinition] = []
    private(set) var directives: [Definition<DirectiveDefinition>] = []
    /// Locations of operations and fragments, which are not allowed here.
    private(set) var executables: [Int] = []

    mutating func add(_ definitions: [GraphQLLanguage.Definition], origin: Origin) {
        for definition in definitions {
            switch definition {
            case .schema(let schema): schemas.append(schema)
            case .directive(let directive):
                directives.append(Definition(node: directive, origin: origin))
            case .type(let type) where type.isExtension: extensions.append(type)
            case .type(let type): types.append(Definition(node: type, origin: origin))
            case .operation(let operation): executables.append(operation.location)
            case .fragment(let fragment): executables.append(fragment.location)
            }
        }
    }

    /// Definitions and extensions together.
    var typesAndExtensions: [TypeDefinition] { types.map(\.node) + extensions }

    /// Every reference to a type, in the order of the definitions.
    func forEachTypeMention(_ body: (Name) -> Void) {
        for directive in directives {
            for argument in directive.node.arguments { body(argument.type.namedType) }
        }
        for schema in schemas {
            for operationType in schema.operationTypes { body(operationType.type) }
        }
        for type in typesAndExtensions {
            type.interfaceNames.forEach(body)
            for field in type.fieldDefinitions {
                for argument in field.arguments { body(argument.type.namedType) }
                body(field.type.namedType)
            }
            for field in type.inputFieldDefinitions { body(field.type.namedType) }
            type.memberNames.forEach(body)
        }
    }
}

extension TypeDefinition {
    var kind: TypeKind {
        switch body {
        case .scalar: .scalar
        case .object: .object
        case .interface: .interface
        case .union: .union
        case .enum: .enum
        case .inputObject: .inputObject
        }
    }

    var interfaceNames: [Name] {
        switch body {
        case .object(let interfaces, _), .interface(let interfaces, _): interfaces
        default: []
        }
    }

    var fieldDefinitions: [FieldDefinition] {
        switch body {
        case .object(_, let fields), .interface(_, let fields): fields
        default: []
        }
    }

    var memberNames: [Name] {
        if case .union(let members) = body { members } else { [] }
    }

    var valueDefinitions: [EnumValueDefinition] {
        if case .enum(let values) = body { values } else { [] }
    }

    var inputFieldDefinitions: [InputValueDefinition] {
        if case .inputObject(let fields) = body { fields } else { [] }
    }
}

extension DirectiveDefinition {
    static let specifiedNames: Set = ["skip", "include", "deprecated", "specifiedBy", "oneOf"]
}
