/// A field of an object or interface type (GraphQL §3.6).
package final class SchemaField: Sendable {
    package let name: String
    package let description: String?
    /// In the order written.
    package let arguments: [SchemaInputValue]
    package let type: WrappedType
    /// The type inside all wrappers of `type`.
    package let namedType: TypeID
    package let directives: [Directive]
    package let deprecationReason: String?
    package let location: Int
    /// Where its type is written.
    package let typeLocation: Int

    init(
        name: String, description: String?, arguments: [SchemaInputValue], type: WrappedType,
        directives: [Directive], location: Int, typeLocation: Int
    ) {
        self.name = name
        self.description = description
        self.arguments = arguments
        self.type = type
        self.namedType = type.namedType
        self.directives = directives
        self.deprecationReason = directives.deprecationReason
        self.location = location
        self.typeLocation = typeLocation
    }

    package func argument(_ name: String) -> SchemaInputValue? {
        arguments.first { $0.name == name }
    }
}

/// An argument of a field or directive, or a field of an input object (GraphQL §3.6.1, §3.10).
package final class SchemaInputValue: Sendable {
    package let name: String
    package let description: String?
    package let type: WrappedType
    /// The type inside all wrappers of `type`.
    package let namedType: TypeID
    /// As written; a constant.
    package let defaultValue: Value?
    package let directives: [Directive]
    package let deprecationReason: String?
    package let location: Int
    /// Where its type is written.
    package let typeLocation: Int

    init(
        name: String, description: String?, type: WrappedType, defaultValue: Value?,
        directives: [Directive], location: Int, typeLocation: Int
    ) {
        self.name = name
        self.description = description
        self.type = type
        self.namedType = type.namedType
        self.defaultValue = defaultValue
        self.directives = directives
        self.deprecationReason = directives.deprecationReason
        self.location = location
        self.typeLocation = typeLocation
    }

    /// Whether a value must be given (GraphQL §5.4.3).
    package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}

/// One value of an enum type (GraphQL §3.9).
package struct SchemaEnumValue: Sendable {
    package let name: String
    package let description: String?
    package let directives: [Directive]
    package let location: Int

    package var deprecationReason: String? { directives.deprecationReason }
}

/// The definition of a directive (GraphQL §3.13).
package final class SchemaDirective: Sendable {
    package let name: String
    package let origin: Origin
    package let description: String?
    package let arguments: [SchemaInputValue]
    package let isRepeatable: Bool
    package let locations: [DirectiveLocation]
    package let location: Int

    init(
        name: String, origin: Origin, description: String?, arguments: [SchemaInputValue],
        isRepeatable: Bool, locations: [DirectiveLocation], location: Int
    ) {
        self.name = name
        self.origin = origin
        self.description = description
        self.arguments = arguments
        self.isRepeatable = isRepeatable
        self.locations = locations
        self.location = location
    }

    package func argument(_ name: String) -> SchemaInputValue? {
        arguments.first { $0.name == name }
    }

    /// Whether clients need not know it: predefined, and useless in an operation.
    package var isHidden: Bool {
        origin == .predefined && !locations.contains(where: \.isExecutable)
    }
}

extension DirectiveLocation {
    /// Whether the location is in an executable document.
    package var isExecutable: Bool {
        switch self {
        case .query, .mutation, .subscription, .field, .fragmentDefinition, .fragmentSpread,
            .inlineFragment, .variableDefinition:
            true
        default: false
        }
    }
}
