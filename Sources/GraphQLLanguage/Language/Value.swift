/// A value as written in a document (GraphQL §2.9).
package struct Value: Sendable {
    package let kind: Kind
    package let location: Int

    package init(_ kind: Kind, location: Int = 0) {
        self.kind = kind
        self.location = location
    }

    /// Numbers keep their text, so that no precision is lost before the type is known.
    package enum Kind: Sendable {
        /// `$name`, without the `$`.
        case variable(String)
        /// The digits as written: an integer of any length.
        case int(String)
        /// The number as written, with a fraction or an exponent.
        case float(String)
        /// The text after unescaping, and without the indentation of a block string.
        case string(String, isBlock: Bool)
        case boolean(Bool)
        case null
        case `enum`(String)
        case list([Value])
        case object([ObjectField])
    }
}

/// `name: value` in an input object (GraphQL §2.9.8).
package struct ObjectField: Sendable {
    package let name: Name
    package let value: Value

    package init(name: Name, value: Value) {
        self.name = name
        self.value = value
    }

    package var location: Int { name.location }
}

/// A string used as a description (GraphQL §2.13).
package struct StringLiteral: Sendable {
    package let value: String
    /// Whether it was written between `"""`.
    package let isBlock: Bool
    package let location: Int

    package init(_ value: String, isBlock: Bool = false, location: Int = 0) {
        self.value = value
        self.isBlock = isBlock
        self.location = location
    }
}

/// A reference to a type: `Name`, `[Type]`, `Type!` (GraphQL §2.11).
package enum TypeReference: Sendable {
    case named(Name)
    indirect case list(TypeReference, location: Int)
    /// Never holds another `nonNull`.
    indirect case nonNull(TypeReference)

    /// The name inside all wrappers.
    package var namedType: Name {
        switch self {
        case .named(let name): name
        case .list(let inner, _), .nonNull(let inner): inner.namedType
        }
    }

    package var location: Int {
        switch self {
        case .named(let name): name.location
        case .list(_, let location): location
        case .nonNull(let inner): inner.location
        }
    }
}

extension TypeReference: CustomStringConvertible {
    /// As written: `[Name!]!`.
    package var description: String {
        switch self {
        case .named(let name): name.value
        case .list(let inner, _): "[\(inner)]"
        case .nonNull(let inner): "\(inner)!"
        }
    }
}
