// The nodes that are the same for writing and for reading: what they hold is what differs.

/// Selections that count for records of a type only.
public final class InlineFragmentNode<Selection: Sendable>: Sendable {
    /// The type condition.
    package let type: String
    /// Set if the type is abstract: `__isTYPE`. A response object that has this key is of the type, also
    /// when its own type is younger than `possibleTypes`.
    package let abstractKey: String?
    /// If the type is abstract: the object types that the compiler's schema counts to it.
    package let possibleTypes: [String]
    /// What is selected where this counts.
    package let selections: [Selection]

    /// An inline fragment, as the compiler writes it.
    /// - Parameters:
    ///   - type: the type condition.
    ///   - abstractKey: `__isTYPE`, if the type is abstract.
    ///   - possibleTypes: if the type is abstract.
    ///   - selections: what is selected where this counts.
    public init(
        type: String, abstractKey: String? = nil, possibleTypes: [String] = [],
        selections: [Selection]
    ) {
        self.type = type
        self.abstractKey = abstractKey
        self.possibleTypes = possibleTypes
        self.selections = selections
    }

    /// Whether the compiler knew that the selections count for objects of a type.
    package func counts(for type: String) -> Bool {
        self.type == type || possibleTypes.contains(type)
    }
}

/// Selections under `@include(if: $condition)` (`passingValue` true) or `@skip(if: $condition)` (false).
public final class ConditionNode<Selection: Sendable>: Sendable {
    /// The name of the variable.
    package let condition: String
    /// The value of the variable with which the selections count.
    package let passingValue: Bool
    /// What is selected where this counts.
    package let selections: [Selection]

    /// `@include` or `@skip`, as the compiler writes it.
    /// - Parameters:
    ///   - condition: the name of the variable.
    ///   - passingValue: the value of the variable with which the selections count.
    ///   - selections: what is selected where this counts.
    public init(condition: String, passingValue: Bool, selections: [Selection]) {
        self.condition = condition
        self.passingValue = passingValue
        self.selections = selections
    }

    package func holds(under variables: VariableData) -> Bool {
        (variables[condition] == .bool(true)) == passingValue
    }
}

/// Selections that stand together, and of which nothing else is to be said.
public final class SelectionGroup<Selection: Sendable>: Sendable {
    /// What is selected where this counts.
    package let selections: [Selection]

    /// A group, as the compiler writes it.
    /// - Parameter selections: what is selected where this counts.
    public init(selections: [Selection]) { self.selections = selections }
}
