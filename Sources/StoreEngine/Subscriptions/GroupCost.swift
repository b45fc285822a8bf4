import GraphQLExecution
import GraphQLLanguage

/// What the executions of a group of equal subscriptions have cost.
struct GroupCost: Sendable {
    private(set) var runs = 0
    private(set) var time = Duration.zero

    mutating func count(since start: ContinuousClock.Instant) {
        runs += 1
        time += ContinuousClock.now - start
    }
}

/// A group of equal subscriptions, for people who wonder what a server does.
package struct GroupFigures: Sendable {
    private let group: PreparedOperation
    package let subscribers: Int
    package let runs: Int
    /// Of all runs together.
    package let time: Duration

    init(_ group: SubscriptionGroup) {
        self.group = group.operation
        subscribers = group.sinks.sinks.count
        runs = group.cost.runs
        time = group.cost.time
    }

    /// The operation's name, or that of its first field.
    package var name: String {
        if let name = group.name { return name }
        for selection in group.definition.selectionSet.selections {
            if case .field(let field) = selection { return field.name.value }
        }
        return ""
    }

    /// The text of the document, or its beginning.
    package func document(upTo count: Int) -> String {
        // A character may have any number of bytes.
        let bytes = group.document.source.bytes.prefix(4 * count)
        return String(String(decoding: bytes, as: UTF8.self).prefix(count))
    }
}

extension Collection {
    /// The elements with the largest values, those first: without a copy of all elements where few are wanted.
    func largest(_ limit: Int, by value: (Element) -> Duration) -> [Element] {
        guard limit < count / 8 else {
            return Array(sorted { value($0) > value($1) }.prefix(limit))
        }
        var found: [Element] = []
        for element in self {
            if found.count >= limit, let last = found.last, value(element) <= value(last) {
                continue
            }
            let place = found.firstIndex { value($0) < value(element) } ?? found.endIndex
            found.insert(element, at: place)
            if found.count > limit { found.removeLast() }
        }
        return found
    }
}
