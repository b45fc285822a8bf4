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
    package let name: String
    /// From `@arguments`.
    package let args: [any Argument]

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
public typealias ReaderInlineFragment = InlineFragmentNode<ReaderSelection>
/// Selections under `@include` or `@skip`.
public typealias ReaderCondition = ConditionNode<ReaderSelection>
/// Fields that only the client's schema has.
public typealias ReaderClientExtension = SelectionGroup<ReaderSelection>
/// Selections under `@defer`: missing until they have come.
public typealias ReaderDefer = SelectionGroup<ReaderSelection>
/// A list under `@stream`: as long as what has come.
public typealias ReaderStream = SelectionGroup<ReaderSelection>
