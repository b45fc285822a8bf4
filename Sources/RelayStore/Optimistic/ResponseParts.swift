import RelayNormalization
@_spi(Rooms) import RelayRecords
import Threads

/// What one execution's response has been read from so far, if more parts of it are to come (`@defer`, `@stream`): the
/// next part is read with that, and not with what others have written in between.
package final class ResponseParts: Sendable {
    enum Held {
        /// No part is to come, or its state has been released.
        case nothing
        case state(Snapshot)
        /// The response was refused, so its parts are too.
        case refused

        var isNothing: Bool { if case .nothing = self { true } else { false } }
    }

    private let now = Lock<(held: Held, response: PartedResponse?)>((.nothing, nil))

    package init() {}

    var held: Held { now.withLock(\.held) }

    var state: Snapshot? { if case .state(let state) = held { state } else { nil } }

    /// The response whose parts are to come; kept even when its state has been released.
    var response: PartedResponse? { now.withLock(\.response) }

    /// - Returns: what was held. Freeing it may take long.
    func hold(_ new: Held, of response: PartedResponse?) -> Held {
        now.withLock { now in
            defer { now = (new, response) }
            return now.held
        }
    }

    /// - Returns: what was held. Freeing it may take long.
    func letGo() -> Held {
        now.withLock { now in
            // What is remembered about connections uses numbers that may now be reused.
            defer { now = (.nothing, now.response.map { PartedResponse(id: $0.id) }) }
            return now.held
        }
    }

    /// Nothing more is to come. For callers that hold no lock.
    package func end() { _ = hold(.nothing, of: nil) }
}

/// The executions that have outstanding parts. Each holds a whole state of the store, with all its numbers. Executions
/// release the states that the store waits for if the texts have doubled meanwhile
/// (``SymbolCollection/Growth/patience``).
struct OutstandingParts {
    private struct Entry { weak var parts: ResponseParts? }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// Above this count, those that no longer hold anything are removed.
    private var looksAt = fewEntries
    private static let fewEntries = 64

    mutating func insert(_ parts: ResponseParts) {
        entries[ObjectIdentifier(parts)] = Entry(parts: parts)
        if entries.count <= looksAt { return }
        entries = entries.filter { $0.value.parts?.state != nil }
        looksAt = max(2 * entries.count, Self.fewEntries)
    }

    /// Makes those with a state of another epoch release it.
    /// - Returns: the states. Freeing them may take long.
    mutating func letGo(butOf epoch: SymbolEpoch) -> [ResponseParts.Held] {
        entries.values.compactMap(\.parts)
            .filter { parts in parts.state.map { $0.epoch !== epoch } ?? false }
            .map { $0.letGo() }
    }
}
