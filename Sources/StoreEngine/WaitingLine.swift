@_spi(Rooms) import Threads

/// Keys that wait for something, first come, first served, each at most once. Pure.
///
/// One that has left takes no room, however many come and go.
package struct WaitingLine<Key: Hashable, Action> {
    private var actions: [Key: Action] = [:]
    /// In order; some of them may have left.
    private var line = FIFO<Key>()

    /// So many that have left may stay in line, in addition to as many as wait.
    private static var slack: Int { 32 }

    package init() {}

    var isEmpty: Bool { actions.isEmpty }
    package var count: Int { actions.count }
    /// Places in line, those that were left among them.
    var placeCount: Int { line.count }

    /// Takes its place behind the others; one that waits already keeps its place.
    package mutating func append(_ key: Key, _ action: Action) {
        if actions.updateValue(action, forKey: key) == nil { line.append(key) }
    }

    /// Leaves the line.
    @discardableResult
    package mutating func remove(_ key: Key) -> Action? {
        guard let action = actions.removeValue(forKey: key) else { return nil }
        if placeCount > 2 * actions.count + Self.slack {
            let waiting = line.filter { actions[$0] != nil }
            line = FIFO()
            line.append(contentsOf: waiting)
        }
        return action
    }

    package mutating func popFirst() -> Action? {
        while let key = line.popFirst() {
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
