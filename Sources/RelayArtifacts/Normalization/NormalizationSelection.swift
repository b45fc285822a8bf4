/// One part of what is selected on a record, as the normalizer sees it.
///
/// Every case holds one reference, so that walking selections copies nothing.
public enum NormalizationSelection: Sendable {
    /// A leaf, or a list of leaves.
    case scalarField(NormalizationScalarField)
    /// A record, or a list of records.
    case linkedField(NormalizationLinkedField)
    /// A field that a handler looks at.
    case handle(NormalizationHandle)
    /// What counts for records of a type.
    case inlineFragment(NormalizationInlineFragment)
    /// `__isTYPE`
    case typeDiscriminator(NormalizationTypeDiscriminator)
    /// `@include` or `@skip`.
    case condition(NormalizationCondition)
    /// Fields of the client alone.
    case clientExtension(NormalizationClientExtension)
    /// `@defer`
    case `defer`(NormalizationDefer)
    /// `@stream`
    case stream(NormalizationStream)

    /// A leaf or a link, by the type of the node.
    public static func field(_ field: NormalizationScalarField) -> Self { .scalarField(field) }
    /// A leaf or a link, by the type of the node.
    public static func field(_ field: NormalizationLinkedField) -> Self { .linkedField(field) }
}

/// `__isTYPE: __typename` in the operation: there exactly when the record is of the abstract type.
public final class NormalizationTypeDiscriminator: Sendable {
    /// The abstract type.
    package let type: String
    /// `__isTYPE`
    package let abstractKey: String

    /// A type discriminator, as the compiler writes it.
    /// - Parameters:
    ///   - type: the abstract type.
    ///   - abstractKey: `__isTYPE`.
    public init(type: String, abstractKey: String) {
        self.type = type
        self.abstractKey = abstractKey
    }
}

/// Selections that count for records of a type only.
public typealias NormalizationInlineFragment = InlineFragmentNode<NormalizationSelection>
/// Selections under `@include` or `@skip`.
public typealias NormalizationCondition = ConditionNode<NormalizationSelection>
/// Fields that only the client's schema has: no response brings them.
public typealias NormalizationClientExtension = SelectionGroup<NormalizationSelection>
/// Selections under `@defer`: they may come later, or at once from a server that does not defer.
public typealias NormalizationDefer = NormalizationPart
/// A list under `@stream`: its later items may come later, or at once from a server that does not stream.
public typealias NormalizationStream = NormalizationPart

/// Selections that a server may send in a part of their own: under `@defer` or `@stream`.
public final class NormalizationPart: Sendable {
    /// The variable of the directive's `if`; nil where there is none.
    package let `if`: String?
    /// The directive's label.
    package let label: String
    /// What is selected where this counts.
    package let selections: [NormalizationSelection]

    /// `@defer` or `@stream` for writing, as the compiler writes it.
    /// - Parameters:
    ///   - if: the variable of the directive's `if`.
    ///   - label: the directive's label.
    ///   - selections: what is selected where this counts.
    public init(if: String? = nil, label: String, selections: [NormalizationSelection]) {
        self.if = `if`
        self.label = label
        self.selections = selections
    }
}
