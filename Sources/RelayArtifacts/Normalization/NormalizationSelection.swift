/// One part of what is selected on a record, as the normalizer sees it.
///
/// Every case holds one reference, so that walking selections copies nothing.
public enum NormalizationSelection: Sendable {
    case scalarField(NormalizationScalarField)
    case linkedField(NormalizationLinkedField)
    case handle(NormalizationHandle)
    case inlineFragment(NormalizationInlineFragment)
    case typeDiscriminator(NormalizationTypeDiscriminator)
    case condition(NormalizationCondition)
    case clientExtension(NormalizationClientExtension)
    case `defer`(NormalizationDefer)
    case stream(NormalizationStream)

    public static func field(_ field: NormalizationScalarField) -> Self { .scalarField(field) }
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
    public let selections: [NormalizationSelection]

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

    public init(type: String, abstractKey: String) {
        self.type = type
        self.abstractKey = abstractKey
    }
}

/// Selections under `@include(if: $condition)` (`passingValue` true) or `@skip(if: $condition)` (false).
public final class NormalizationCondition: Sendable {
    /// The name of the variable.
    public let condition: String
    public let passingValue: Bool
    public let selections: [NormalizationSelection]

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
    public let selections: [NormalizationSelection]

    public init(selections: [NormalizationSelection]) { self.selections = selections }
}

/// Selections under `@defer`: they may come later, or at once from a server that does not defer.
public final class NormalizationDefer: Sendable {
    /// The variable of the directive's `if`; nil where there is none.
    public let `if`: String?
    public let label: String
    public let selections: [NormalizationSelection]

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
    public let label: String
    public let selections: [NormalizationSelection]

    public init(if: String? = nil, label: String, selections: [NormalizationSelection]) {
        self.if = `if`
        self.label = label
        self.selections = selections
    }
}
