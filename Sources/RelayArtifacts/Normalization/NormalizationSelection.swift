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

/// Selections that count for records of a type only.
public final class NormalizationInlineFragment: Sendable {
    /// The type condition.
    public let type: String
    /// Set if the type is abstract: `__isTYPE`. A response object that has this key is of the type, also
    /// when its own type is younger than `possibleTypes`.
    public let abstractKey: String?
    /// If the type is abstract: the object types that the compiler's schema counts to it.
    public let possibleTypes: [String]
    /// What is selected where this counts.
    public let selections: [NormalizationSelection]

    /// An inline fragment for writing, as the compiler writes it.
    /// - Parameters:
    ///   - type: the abstract type.
    ///   - abstractKey: `__isTYPE`.
    ///   - possibleTypes: if the type is abstract.
    ///   - selections: what is selected where this counts.
    public init(
        type: String, abstractKey: String? = nil, possibleTypes: [String] = [],
        selections: [NormalizationSelection]
    ) {
        self.type = type
        self.abstractKey = abstractKey
        self.possibleTypes = possibleTypes
        self.selections = selections
    }
}

/// `__isTYPE: __typename` in the operation: there exactly when the record is of the abstract type.
public final class NormalizationTypeDiscriminator: Sendable {
    /// The abstract type.
    public let type: String
    /// `__isTYPE`
    public let abstractKey: String

    /// A type discriminator, as the compiler writes it.
    /// - Parameters:
    ///   - type: the abstract type.
    ///   - abstractKey: `__isTYPE`.
    public init(type: String, abstractKey: String) {
        self.type = type
        self.abstractKey = abstractKey
    }
}

/// Selections under `@include(if: $condition)` (`passingValue` true) or `@skip(if: $condition)` (false).
public final class NormalizationCondition: Sendable {
    /// The name of the variable.
    public let condition: String
    /// The value of the variable with which the selections count.
    public let passingValue: Bool
    /// What is selected where this counts.
    public let selections: [NormalizationSelection]

    /// `@include` or `@skip` for writing, as the compiler writes it.
    /// - Parameters:
    ///   - condition: the name of the variable.
    ///   - passingValue: the value of the variable with which the selections count.
    ///   - selections: what is selected where this counts.
    public init(condition: String, passingValue: Bool, selections: [NormalizationSelection]) {
        self.condition = condition
        self.passingValue = passingValue
        self.selections = selections
    }

    package func holds(under variables: VariableData) -> Bool {
        (variables[condition] == .bool(true)) == passingValue
    }
}

/// Fields that only the client's schema has: no response brings them.
public final class NormalizationClientExtension: Sendable {
    /// What is selected where this counts.
    public let selections: [NormalizationSelection]

    /// Fields of the client's own schema for writing, as the compiler writes it.
    /// - Parameter selections: what is selected where this counts.
    public init(selections: [NormalizationSelection]) { self.selections = selections }
}

/// Selections under `@defer`: they may come later, or at once from a server that does not defer.
public final class NormalizationDefer: Sendable {
    /// The variable of the directive's `if`; nil where there is none.
    public let `if`: String?
    /// The directive's label.
    public let label: String
    /// What is selected where this counts.
    public let selections: [NormalizationSelection]

    /// `@defer` for writing, as the compiler writes it.
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

/// A list under `@stream`: its later items may come later, or at once from a server that does not stream.
public final class NormalizationStream: Sendable {
    /// The variable of the directive's `if`; nil where there is none.
    public let `if`: String?
    /// The directive's label.
    public let label: String
    /// What is selected where this counts.
    public let selections: [NormalizationSelection]

    /// `@stream` for writing, as the compiler writes it.
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
