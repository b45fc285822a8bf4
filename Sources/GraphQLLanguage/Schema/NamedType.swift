import RelayJSON

/// A type of a schema, combining definition and extensions (GraphQL §3.4).
///
/// One class represents all kinds, like `__Type` in introspection; what a kind lacks is empty.
/// Types refer to one another by `TypeID`, so a schema is a tree without cycles and everything in
/// it is constant.
package final class NamedType: Sendable {
    package let id: TypeID
    package let name: String
    package let kind: TypeKind
    package let origin: Origin
    package let description: String?
    /// The directives of the definition, then of its extensions.
    package let directives: [Directive]
    /// Where the definition starts, then its extensions.
    package let locations: [Int]

    /// Object and interface types: the fields, in the order written.
    package let fields: [SchemaField]
    /// Object and interface types: the interfaces they declare.
    package let interfaces: [TypeID]
    /// Union types.
    package let members: [TypeID]
    /// Enum types.
    package let values: [SchemaEnumValue]
    /// Input object types.
    package let inputFields: [SchemaInputValue]

    private let positions: [String: Int]

    init(
        id: TypeID, name: String, kind: TypeKind, origin: Origin, description: String?,
        directives: [Directive], locations: [Int], fields: [SchemaField] = [],
        interfaces: [TypeID] = [], members: [TypeID] = [], values: [SchemaEnumValue] = [],
        inputFields: [SchemaInputValue] = []
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.origin = origin
        self.description = description
        self.directives = directives
        self.locations = locations
        self.fields = fields
        self.interfaces = interfaces
        self.members = members
        self.values = values
        self.inputFields = inputFields
        // A type has fields, input fields or values, never two of them.
        let names = fields.map(\.name) + inputFields.map(\.name) + values.map(\.name)
        self.positions = Dictionary(
            zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }

    /// The field of an object or interface type; meta-fields are `Schema.field(_:on:)`.
    package func field(_ name: String) -> SchemaField? {
        guard !fields.isEmpty, let position = positions[name],
            fields[position].name.isSame(as: name)
        else { return nil }
        return fields[position]
    }

    /// The field of an input object type.
    package func inputField(_ name: String) -> SchemaInputValue? {
        guard !inputFields.isEmpty, let position = positions[name],
            inputFields[position].name.isSame(as: name)
        else { return nil }
        return inputFields[position]
    }

    /// The value of an enum type.
    package func value(_ name: String) -> SchemaEnumValue? {
        guard !values.isEmpty, let position = positions[name],
            values[position].name.isSame(as: name)
        else { return nil }
        return values[position]
    }

    /// The URL of `@specifiedBy` on a scalar (GraphQL §3.13.4).
    package var specifiedByURL: String? {
        guard kind == .scalar,
            case .string(let url, _) = directives.named("specifiedBy")?.argument("url")?.kind
        else { return nil }
        return url
    }

    /// Whether exactly one field must be given (GraphQL §3.10.1).
    package var isOneOf: Bool { kind == .inputObject && directives.named("oneOf") != nil }
}

/// The six kinds of named type; raw values are those of `__TypeKind` (GraphQL §4.4).
package enum TypeKind: String, Sendable {
    case scalar = "SCALAR"
    case object = "OBJECT"
    case interface = "INTERFACE"
    case union = "UNION"
    case `enum` = "ENUM"
    case inputObject = "INPUT_OBJECT"

    /// Has a selection set.
    package var isComposite: Bool { self == .object || isAbstract }
    /// Represents one of several object types.
    package var isAbstract: Bool { self == .interface || self == .union }
    package var isLeaf: Bool { self == .scalar || self == .enum }
    package var isInput: Bool { isLeaf || self == .inputObject }
    package var isOutput: Bool { self != .inputObject }
}

/// Where a definition comes from.
package enum Origin: Sendable {
    /// The scalars, directives and introspection types of the specification.
    case builtIn
    /// A document supplied by the program; introspection and printing can omit it.
    case predefined
    /// The schema's own documents.
    case document
    /// Nowhere: it is referenced but not defined. Only while errors are collected.
    case missing
}

extension [Directive] {
    /// The first directive with this name.
    package func named(_ name: String) -> Directive? {
        first { $0.name.value == name }
    }

    /// The reason of `@deprecated`, or its default (GraphQL §3.13.3).
    var deprecationReason: String? {
        guard let directive = named("deprecated") else { return nil }
        guard case .string(let reason, _) = directive.argument("reason")?.kind else {
            return defaultDeprecationReason
        }
        return reason
    }
}

let defaultDeprecationReason = "No longer supported"
