import Console
import RelayJSON
import RelayRecords

/// A result of an operation, as it is kept: what is in it is read when it is looked at.
struct KeptResult: Sendable {
    /// Counted from 1.
    let number: Int
    /// When it arrived, in microseconds since 1970.
    let time: Int64
    private let received: ReceivedResult

    init(_ received: ReceivedResult, number: Int) {
        self.number = number
        time = WallClock.microseconds()
        self.received = received
    }

    /// What it takes to keep it.
    var byteCount: Int { received.bytes.count + 100 }

    /// Whether results before it may be missing.
    var followsGap: Bool { received.followsGap }

    var content: Content { Content(received.json) }

    struct Content {
        /// Nil if there is none.
        let data: JSONValue?
        let errors: [JSONValue]
        /// The place in the log of one of our servers.
        let cursor: String?
        /// Whether it shows something that is not confirmed.
        let isOptimistic: Bool
        /// The records in it that are not confirmed, as far as the server says.
        let optimisticRecords: Set<String>

        init(_ json: JSONValue) {
            data = json["data"]
            errors = json["errors"]?.array ?? []
            let relay = json["extensions"]?["relay"]
            cursor = relay?["cursor"]?.string
            isOptimistic = relay?["optimistic"] == true
            optimisticRecords = Set(
                relay?["optimisticRecords"]?.array?.compactMap(\.string) ?? [])
        }
    }
}

/// The newest results of an operation.
struct KeptResults: Sendable {
    private(set) var results: [KeptResult] = []
    private(set) var byteCount = 0
    /// Older ones that were dropped.
    private(set) var droppedCount = 0

    /// Beyond it, the oldest are dropped; the newest always stays.
    static let byteLimit = 32 << 20

    var count: Int { droppedCount + results.count }

    mutating func append(_ result: KeptResult) {
        results.append(result)
        byteCount += result.byteCount
        // Many at a time, for the others move up.
        if byteCount > Self.byteLimit { _ = drop(bytes: byteCount - Self.byteLimit * 7 / 8) }
    }

    /// Drops the oldest, so many bytes if there are as many; the newest stays.
    /// - Returns: how many bytes that was.
    mutating func drop(bytes: Int) -> Int {
        let before = byteCount
        var dropped = 0
        while dropped < results.count - 1, before - byteCount < bytes {
            byteCount -= results[dropped].byteCount
            dropped += 1
        }
        results.removeFirst(dropped)
        droppedCount += dropped
        return before - byteCount
    }

    /// Drops all of them.
    /// - Returns: how many bytes that was.
    mutating func dropAll() -> Int {
        defer { (droppedCount, results, byteCount) = (count, [], 0) }
        return byteCount
    }

    /// The result with a number; nil if it was dropped, or is still to come.
    subscript(number: Int) -> KeptResult? {
        let index = number - droppedCount - 1
        return results.indices.contains(index) ? results[index] : nil
    }
}
