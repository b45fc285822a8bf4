/// One part of what is read from a record.
///
/// Every case holds one reference, so that walking selections copies nothing.
public enum ReaderSelection: Sendable {
    /// A leaf, or a list of leaves.
    case scalarField(ReaderScalarField)
    /// A record, or a list of records.
    case linkedField(ReaderLinkedField)
    /// A fragment, which stays closed.
    case fragmentSpread(ReaderFragmentSpread)
    /// What counts for records of a type.
    case inlineFragment(ReaderInlineFragment)
    /// `@include` or `@skip`.
    case condition(ReaderCondition)
    /// Fields of the client alone.
    case clientExtension(ReaderClientExtension)
    /// `@defer`
    case `defer`(ReaderDefer)
    /// `@stream`
    case stream(ReaderStream)

    /// A leaf or a link, by the type of the node.
    public static func field(_ field: ReaderScalarField) -> Self { .scalarField(field) }
    /// A leaf or a link, by the type of the node.
    public static func field(_ field: ReaderLinkedField) -> Self { .linkedField(field) }
}

/// The place of a fragment's data: read as a pointer, which only the fragment's owner opens.
public final class ReaderFragmentSpread: Sendable {
    /// The fragment's name.
    public let name: String
    /// From `@arguments`.
    public let args: [any Argument]

    /// A fragment spread for reading, as the compiler writes it.
    /// - Parameters:
    ///   - name: the fragment's name.
    ///   - args: from `@arguments`.
    public init(name: String, args: [any Argument] = []) {
        self.name = name
        self.args = args
    }
}

/// Selections that count for records of a type only.
public final class ReaderInlineFragment: Sendable {
    /// The type condition.
    public let type: String
    /// Set if the type is abstract: `__isTYPE`.
    public let abstractKey: String?
    /// If the type is abstract: the object types that the compiler's schema counts to it.
    public let possibleTypes: [String]
    /// What is read where this counts.
    public let selections: [ReaderSelection]

    /// An inline fragment for reading, as the compiler writes it.
    /// - Parameters:
    ///   - type: the type condition.
    ///   - abstractKey: set if the type is abstract.
    ///   - possibleTypes: if the type is abstract.
    ///   - selections: what is read where this counts.
    public init(
        type: String, abstractKey: String? = nil, possibleTypes: [String] = [],
        selections: [ReaderSelection]
    ) {
        self.type = type
        self.abstractKey = abstractKey
        self.possibleTypes = possibleTypes
        self.selections = selections
    }
}

/// Selections under `@include(if: $condition)` (`passingValue` true) or `@skip(if: $condition)` (false).
public final class ReaderCondition: Sendable {
    /// The name of the variable.
    public let condition: String
    /// The value of the variable with which the selections count.
    public let passingValue: Bool
    /// What is read where this counts.
    public let selections: [ReaderSelection]

    /// `@include` or `@skip` for reading, as the compiler writes it.
    /// - Parameters:
    ///   - condition: the name of the variable.
    ///   - passingValue: the value of the variable with which the selections count.
    ///   - selections: what is read where this counts.
    public init(condition: String, passingValue: Bool, selections: [ReaderSelection]) {
        self.condition = condition
        self.passingValue = passingValue
        self.selections = selections
    }

    package func holds(under variables: VariableData) -> Bool {
        (variables[condition] == .bool(true)) == passingValue
    }
}

/// Fields that only the client's schema has.
public final class ReaderClientExtension: Sendable {
    /// What is read where this counts.
    public let selections: [ReaderSelection]

    /// Fields of the client's own schema for reading, as the compiler writes it.
    /// - Parameter selections: what is read where this counts.
    public init(selections: [ReaderSelection]) { self.selections = selections }
}

/// Selections under `@defer`: missing until they have come.
public final class ReaderDefer: Sendable {
    /// What is read where this counts.
    public let selections: [ReaderSelection]

    /// `@defer` for reading, as the compiler writes it.
    /// - Parameter selections: what is read where this counts.
    public init(selections: [ReaderSelection]) { self.selections = selections }
}

/// A list under `@stream`: as long as what has come.
public final class ReaderStream: Sendable {
    /// What is read where this counts.
    public let selections: [ReaderSelection]

    /// `@stream` for reading, as the compiler writes it.
    /// - Parameter selections: what is read where this counts.
    public init(selections: [ReaderSelection]) { self.selections = selections }
}
