@_spi(Rooms) import Threads

/// Keys waiting for something, first come, first served, each at most once. Pure.
///
/// Keys that have left take up no lasting space, however many come and go.
package struct WaitingLine<Key: Hashable, Action> {
    private var actions: [Key: Action] = [:]
    /// In order; some of these may have left.
    private var line = FIFO<Key>()

    /// The number of departed keys that may stay in line beyond the number waiting.
    private static var slack: Int { 32 }

    package init() {}

    var isEmpty: Bool { actions.isEmpty }
    package var count: Int { actions.count }
    /// Places in line, including those of keys that have left.
    var placeCount: Int { line.count }

    /// Adds a key at the end of the line; a key that is already waiting keeps its place.
    package mutating func append(_ key: Key, _ action: Action) {
        if actions.updateValue(action, forKey: key) == nil { line.append(key) }
    }

    /// Removes a key from the line.
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
