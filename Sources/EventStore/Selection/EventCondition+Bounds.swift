import RelayJSON

extension EventCondition {
    /// The sequences between which all events that can satisfy the condition are: no others need be read.
    package var bounds: ClosedRange<UInt64>? { root.bounds.range }
}

/// A range of sequences that may be empty.
private struct Bounds {
    var lower: UInt64 = 0
    var upper: UInt64 = .max

    static let none = Bounds(lower: 1, upper: 0)

    var range: ClosedRange<UInt64>? { lower <= upper ? lower...upper : nil }

    func intersection(_ other: Bounds) -> Bounds {
        Bounds(lower: max(lower, other.lower), upper: min(upper, other.upper))
    }

    func hull(_ other: Bounds) -> Bounds {
        guard range != nil else { return other }
        guard other.range != nil else { return self }
        return Bounds(lower: min(lower, other.lower), upper: max(upper, other.upper))
    }
}

extension Bounds {
    /// The numbers for which a comparison with this number holds.
    init(_ comparison: EventCondition.Comparison, _ number: Int64) {
        // Sequences are not negative.
        let bound = UInt64(clamping: number)
        switch comparison {
        case .equal: self = number < 0 ? .none : Bounds(lower: bound, upper: bound)
        case .less: self = number <= 0 ? .none : Bounds(upper: bound - 1)
        case .lessOrEqual: self = number < 0 ? .none : Bounds(upper: bound)
        case .greater: self = number < 0 ? Bounds() : Bounds(lower: bound + 1)
        case .greaterOrEqual: self = Bounds(lower: bound)
        case .unequal, .contains, .in: self = Bounds()
        }
    }
}

extension EventCondition.Node {
    fileprivate var bounds: Bounds {
        switch self {
        case .and(let left, let right): left.bounds.intersection(right.bounds)
        case .or(let left, let right): left.bounds.hull(right.bounds)
        case .compare(let left, let comparison, let right):
            if left.isSequence, let number = right.number {
                Bounds(comparison, number)
            } else if right.isSequence, let number = left.number, let turned = comparison.turned {
                Bounds(turned, number)
            } else if left.isSequence, comparison == .in, let numbers = right.numbers {
                numbers.reduce(Bounds.none) { $0.hull(Bounds(.equal, $1)) }
            } else {
                Bounds()
            }
        case .not, .matches, .holds: Bounds()
        }
    }
}

extension EventCondition.Operand {
    fileprivate var isSequence: Bool {
        if case .field(let field) = self { field.name == .sequence } else { false }
    }

    fileprivate var number: Int64? {
        if case .value(.int(let number)) = self { number } else { nil }
    }

    fileprivate var numbers: [Int64]? {
        guard case .list(let operands) = self else { return nil }
        let numbers = operands.compactMap(\.number)
        return numbers.count == operands.count ? numbers : nil
    }
}

extension EventCondition.Comparison {
    /// The equivalent comparison with left and right exchanged.
    fileprivate var turned: EventCondition.Comparison? {
        switch self {
        case .equal: .equal
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .unequal, .contains, .in: nil
        }
    }
}
