/// A named type of a schema: its index in `Schema.types`.
package struct TypeID: Hashable, Sendable {
    package let index: Int
}

/// A type as a field, argument or variable uses it: a named type in lists and non-nulls
/// (GraphQL §3.4.1).
package enum WrappedType: Hashable, Sendable {
    case named(TypeID)
    indirect case list(WrappedType)
    /// Never holds another `nonNull`.
    indirect case nonNull(WrappedType)

    /// The type inside all wrappers.
    package var namedType: TypeID {
        switch self {
        case .named(let id): id
        case .list(let inner), .nonNull(let inner): inner.namedType
        }
    }

    package var isNonNull: Bool {
        if case .nonNull = self { true } else { false }
    }

    /// This type without the outermost `!`, if it has one.
    package var nullable: WrappedType {
        if case .nonNull(let inner) = self { inner } else { self }
    }

    /// The element type of a list of this type, ignoring an outer `!`.
    package var listItem: WrappedType? {
        if case .list(let item) = nullable { item } else { nil }
    }
}
