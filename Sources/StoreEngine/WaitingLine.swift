/// Who waits for something, first come, first served, each at most once. Pure.
///
/// One that has left takes no room, however many come and go.
package struct WaitingLine<Key: Hashable, Action> {
    private var actions: [Key: Action] = [:]
    /// In order, from `next` on; some of them may have left.
    private var line: [Key] = []
    private var next = 0

    /// So many that have left may stay in line, in addition to as many as wait.
    private static var slack: Int { 32 }

    package init() {}

    var isEmpty: Bool { actions.isEmpty }
    package var count: Int { actions.count }
    /// Places in line, those that were left among them.
    var placeCount: Int { line.count - next }

    /// Takes its place behind the others; one that waits already keeps its place.
    package mutating func append(_ key: Key, _ action: Action) {
        if actions.updateValue(action, forKey: key) == nil { line.append(key) }
    }

    /// Leaves the line.
    @discardableResult
    package mutating func remove(_ key: Key) -> Action? {
        guard let action = actions.removeValue(forKey: key) else { return nil }
        if placeCount > 2 * actions.count + Self.slack {
            line = line[next...].filter { actions[$0] != nil }
            next = 0
        }
        return action
    }

    package mutating func popFirst() -> Action? {
        while next < line.count {
            let key = line[next]
            next += 1
            if next >= 1_024, next * 2 >= line.count {
                line.removeFirst(next)
                next = 0
            }
            if let action = actions.removeValue(forKey: key) { return action }
        }
        removeAll()
        return nil
    }

    mutating func takeAll() -> [Action] {
        var all: [Action] = []
        all.reserveCapacity(count)
        while let next = popFirst() { all.append(next) }
        return all
    }

    package mutating func removeAll() { self = WaitingLine() }
}
