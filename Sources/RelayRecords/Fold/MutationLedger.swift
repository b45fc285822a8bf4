import HashTreeCollections

/// Which mutations of each client were applied, and their answers.
///
/// A client numbers its mutations in increasing order. The newest answers of each client are kept; for
/// older mutations only the fact that they were applied. Part of the fold, so it survives restarts, uses no
/// clock, and is the same for all who fold the same events. Its size is bounded (``Limits``).
///
/// Invariants:
/// 1. Clients are linked in the order of their newest responses.
/// 2. Those before `oldestAnswered` have no answers; it and all after it have some.
package struct MutationLedger: Sendable {
    /// What is kept. The same for all who fold a log, so it is part of a fold version.
    package struct Limits: Sendable {
        /// Answers per client.
        package var answers = MutationLedger.answerLimit
        /// Ranges of older mutations per client; beyond that the lowest is forgotten.
        package var ranges = 256
        /// Clients; beyond that the one idle longest is forgotten.
        package var clients = 100_000
        /// The approximate total size in bytes. Beyond that answers are dropped, those of the clients idle
        /// longest first, then whole clients.
        package var bytes = 128 << 20
        /// A client that is idle for more events than this is forgotten.
        package var silentEvents: UInt64 = 100_000_000

        package init() {}
    }

    /// Answers kept per client.
    package static let answerLimit = 1_000

    package struct Answer: Sendable, Hashable {
        /// The sequence of the response event.
        package let sequence: UInt64
        /// The response as it was sent: `{"data": …}`. Empty if none was kept.
        package let bytes: [UInt8]
        /// What was asked for; nil in logs of versions that did not record it.
        package let fingerprint: MutationFingerprint?

        package init(sequence: UInt64, bytes: [UInt8], fingerprint: MutationFingerprint? = nil) {
            self.sequence = sequence
            self.bytes = bytes
            self.fingerprint = fingerprint
        }

        var cost: Int { bytes.count + 128 }
    }

    package enum Status: Sendable, Hashable {
        /// Never applied, as far as is known.
        case new
        case answered(Answer)
        /// Applied, but its answer was dropped.
        case applied
        /// So long ago that it is unknown whether it was applied.
        case unknown
    }

    private let limits: Limits
    private var clients: TreeDictionary<MutationScope, LedgerClient> = [:]
    /// The clients idle longest and shortest.
    private var oldest: MutationScope?
    private var newest: MutationScope?
    private var oldestAnswered: MutationScope?
    /// The approximate total size.
    package private(set) var byteCount = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var clientCount: Int { clients.count }

    /// The sequence of the newest response; 0 for none.
    package var lastSequence: UInt64 { newest.flatMap { clients[$0]?.lastSequence } ?? 0 }

    package func status(of id: MutationID, by viewer: String? = nil) -> Status {
        clients[MutationScope(viewer: viewer, client: id.client)]?.status(of: id.number) ?? .new
    }

    /// Keeps an answer, and drops what exceeds the limits because of it.
    package mutating func record(_ id: MutationID, by viewer: String? = nil, _ answer: Answer) {
        let scope = MutationScope(viewer: viewer, client: id.client)
        assert(
            lastSequence <= answer.sequence,
            "responses are noted in log order")
        moveToEnd(scope)
        change(scope) { [limits] client in
            client.lastSequence = answer.sequence
            client.add(id.number, answer)
            while client.answerCount > limits.answers {
                client.dropOldest(rangeLimit: limits.ranges)
            }
        }
        if oldestAnswered == nil { oldestAnswered = scope }
        trim(after: answer.sequence)
        assert(newest == scope, "who was answered last is silent for the shortest time")
        assert(areEndsLinked, "clients are linked from the oldest to the newest")
        assert(hasNoAnswerBeforeOldestAnswered, "answers go from the oldest client on")
        assert(byteCount >= 0, "what is counted was there")
    }

    /// Invariant 1, where checking it is free.
    private var areEndsLinked: Bool {
        guard let first = oldest.flatMap({ clients[$0] }),
            let last = newest.flatMap({ clients[$0] })
        else { return false }
        return first.older == nil && last.newer == nil
            && (last.older.flatMap { clients[$0] }?.lastSequence ?? 0) <= last.lastSequence
    }

    /// Invariant 2, for the client before.
    private var hasNoAnswerBeforeOldestAnswered: Bool {
        // All answers may have been too large.
        guard let oldestAnswered else { return true }
        guard let client = clients[oldestAnswered] else { return false }
        return client.older.flatMap { clients[$0] }?.answerCount ?? 0 == 0
    }

    /// Changes a client and updates the total size.
    private mutating func change(_ scope: MutationScope, _ body: (inout LedgerClient) -> Void) {
        // In place, so that nothing of the client is copied.
        byteCount += Self.growth(of: &clients[scope, default: LedgerClient()], by: body)
    }

    private static func growth(
        of client: inout LedgerClient, by change: (inout LedgerClient) -> Void
    ) -> Int {
        let before = client.byteCount
        change(&client)
        return client.byteCount - before
    }

    // MARK: The order of clients

    private mutating func moveToEnd(_ scope: MutationScope) {
        if newest == scope { return }
        if clients[scope] == nil {
            clients[scope] = LedgerClient()
            byteCount += scope.cost + LedgerClient().byteCount
        } else {
            unlink(scope)
        }
        if let newest {
            clients[newest]?.newer = scope
            clients[scope]?.older = newest
        } else {
            oldest = scope
        }
        newest = scope
    }

    private mutating func unlink(_ scope: MutationScope) {
        guard let client = clients[scope] else { return }
        if let older = client.older {
            clients[older]?.newer = client.newer
        } else {
            oldest = client.newer
        }
        if let newer = client.newer {
            clients[newer]?.older = client.older
        } else {
            newest = client.older
        }
        if oldestAnswered == scope { oldestAnswered = client.newer }
        clients[scope]?.older = nil
        clients[scope]?.newer = nil
    }

    // MARK: The bounds

    private mutating func trim(after sequence: UInt64) {
        while let oldest, oldest != newest,
            clients.count > limits.clients || isSilent(oldest, at: sequence)
        { forget(oldest) }
        while byteCount > limits.bytes, dropAnswer() {}
        while byteCount > limits.bytes, let oldest, oldest != newest { forget(oldest) }
    }

    private func isSilent(_ scope: MutationScope, at sequence: UInt64) -> Bool {
        guard let last = clients[scope]?.lastSequence, sequence > last else { return false }
        return sequence - last > limits.silentEvents
    }

    private mutating func forget(_ scope: MutationScope) {
        unlink(scope)
        guard let client = clients.removeValue(forKey: scope) else { return }
        byteCount -= scope.cost + client.byteCount
    }

    /// Drops the oldest answer of the client idle longest among those that have any. False if only the newest
    /// answer of all is left.
    private mutating func dropAnswer() -> Bool {
        guard let scope = oldestAnswered, let client = clients[scope],
            scope != newest || client.answerCount > 1
        else { return false }
        change(scope) { [limits] in $0.dropOldest(rangeLimit: limits.ranges) }
        if client.answerCount <= 1 { oldestAnswered = client.newer }
        return true
    }
}

extension MutationScope {
    fileprivate var cost: Int { client.utf8.count + (viewer?.utf8.count ?? 0) }
}

// MARK: What a checkpoint keeps

extension MutationLedger {
    /// What is kept of one client.
    package struct Entry: Sendable {
        package var scope: MutationScope
        /// The sequence of its newest response.
        package var lastSequence: UInt64
        /// Mutations that were applied and whose answers are gone.
        package var applied: NumberRanges
        /// By number, in increasing order.
        package var answers: [(number: UInt64, answer: Answer)]

        package init(
            scope: MutationScope, lastSequence: UInt64, applied: NumberRanges = NumberRanges(),
            answers: [(number: UInt64, answer: Answer)]
        ) {
            self.scope = scope
            self.lastSequence = lastSequence
            self.applied = applied
            self.answers = answers
        }
    }

    /// Every known client, in the order of ``MutationScope``.
    package var scopes: [MutationScope] { clients.keys.sorted { $0.precedes($1) } }

    package func entry(of scope: MutationScope) -> Entry? {
        guard let client = clients[scope] else { return nil }
        return Entry(
            scope: scope, lastSequence: client.lastSequence, applied: client.applied,
            answers: client.answers)
    }

    /// Reassembles what ``entry(of:)`` returned.
    package init(_ entries: [Entry], limits: Limits = Limits()) {
        self.init(limits: limits)
        let byAge = entries.sorted {
            $0.lastSequence == $1.lastSequence
                ? $0.scope.precedes($1.scope) : $0.lastSequence < $1.lastSequence
        }
        for entry in byAge {
            moveToEnd(entry.scope)
            change(entry.scope) { client in
                let (older, newer) = (client.older, client.newer)
                client = LedgerClient(
                    lastSequence: entry.lastSequence, applied: entry.applied,
                    answers: entry.answers)
                (client.older, client.newer) = (older, newer)
            }
            if oldestAnswered == nil, !entry.answers.isEmpty { oldestAnswered = entry.scope }
        }
    }

    /// Whether everything beyond the limits has been dropped.
    package var isWithinLimits: Bool {
        clients.count <= limits.clients && byteCount <= limits.bytes
            && clients.values.allSatisfy { $0.answerCount <= limits.answers }
    }
}
