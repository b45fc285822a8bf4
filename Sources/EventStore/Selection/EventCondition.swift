import RelayJSON

/// A condition on an event, written as text.
///
///     kind == response and records contains "VG9kbzox"
///     operation in [addTodo, renameTodo] and not viewer
///     variables.input.text matches "^Buy" or sequence >= 412
///     time > @now-1h && (mutationId contains "cli:" || ends < 100)
///
/// From weakest to strongest: `or` (`||`), `and` (`&&`), `not` (`!`), the comparisons `==` (`=`), `!=`,
/// `<`, `<=`, `>`, `>=`, `contains`, `in`, `matches`. A field alone holds if it exists and is not
/// false or empty. A field that the event does not have is null: equal to null, and neither less nor
/// greater than anything. `contains` looks for an element of a list, or for a substring of a text;
/// `matches` searches a text for a regular expression. Texts are in single or double quotes; after a
/// comparison, a word that names no field is also a text.
package struct EventCondition {
    let root: Node

    indirect enum Node {
        case or(Node, Node)
        case and(Node, Node)
        case not(Node)
        case compare(Operand, Comparison, Operand)
        case matches(Operand, Regex<AnyRegexOutput>)
        case holds(Operand)
    }

    /// Whether it searches for a regular expression. How long that takes has no bound.
    package var hasPatterns: Bool { Self.hasPatterns(root) }

    private static func hasPatterns(_ node: Node) -> Bool {
        switch node {
        case .or(let left, let right), .and(let left, let right):
            hasPatterns(left) || hasPatterns(right)
        case .not(let inner): hasPatterns(inner)
        case .matches: true
        case .compare, .holds: false
        }
    }

    /// Whether it is no more than the name of a field, or a value.
    package var isOneWord: Bool {
        if case .holds = root { true } else { false }
    }

    enum Operand {
        case field(EventField)
        case value(JSONValue)
        case list([Operand])

        func value(in event: EventSummary) -> JSONValue {
            switch self {
            case .field(let field): field.value(in: event)
            case .value(let value): value
            case .list(let operands): .array(operands.map { $0.value(in: event) })
            }
        }
    }

    enum Comparison: String, CaseIterable {
        case equal = "=="
        case unequal = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case contains
        case `in`

        func holds(_ left: JSONValue, _ right: JSONValue) -> Bool {
            switch self {
            case .equal: left.isSame(as: right)
            case .unequal: !left.isSame(as: right)
            case .less: left.isLess(than: right)
            case .lessOrEqual: left.isLess(than: right) || left.isSameOrdered(as: right)
            case .greater: right.isLess(than: left)
            case .greaterOrEqual: right.isLess(than: left) || left.isSameOrdered(as: right)
            case .contains: left.contains(right)
            case .in: right.contains(left)
            }
        }
    }

    package func holds(for event: EventSummary) -> Bool { Self.holds(root, event) }

    private static func holds(_ node: Node, _ event: EventSummary) -> Bool {
        switch node {
        case .or(let left, let right): holds(left, event) || holds(right, event)
        case .and(let left, let right): holds(left, event) && holds(right, event)
        case .not(let inner): !holds(inner, event)
        case .compare(let left, let comparison, let right):
            comparison.holds(left.value(in: event), right.value(in: event))
        case .matches(let operand, let pattern):
            operand.value(in: event).string.map { $0.firstMatch(of: pattern) != nil } ?? false
        case .holds(let operand): operand.value(in: event).isSomething
        }
    }
}

extension JSONValue {
    private var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// 1 and 1.0 are the same.
    fileprivate func isSame(as other: JSONValue) -> Bool {
        if self == other { return true }
        guard let number, let otherNumber = other.number else { return false }
        return number == otherNumber
    }

    fileprivate func isLess(than other: JSONValue) -> Bool {
        switch (self, other) {
        case (.int(let left), .int(let right)): return left < right
        case (.string(let left), .string(let right)): return left < right
        default:
            guard let number, let otherNumber = other.number else { return false }
            return number < otherNumber
        }
    }

    /// Equality for values that can be ordered.
    fileprivate func isSameOrdered(as other: JSONValue) -> Bool {
        (number != nil || string != nil) && isSame(as: other)
    }

    fileprivate func contains(_ part: JSONValue) -> Bool {
        switch (self, part) {
        case (.array(let elements), _): elements.contains { $0.isSame(as: part) }
        case (.string(let text), .string(let piece)): piece.isEmpty || text.contains(piece)
        case (.object(let object), .string(let key)): object[key] != nil
        default: false
        }
    }

    fileprivate var isSomething: Bool {
        switch self {
        case .null, .bool(false), .string(""): false
        case .array(let elements): !elements.isEmpty
        default: true
        }
    }
}
