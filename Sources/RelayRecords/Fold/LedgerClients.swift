import HashTreeCollections

/// Some of the ledger's clients, within limits of their own.
///
/// Invariants:
/// 1. Clients are linked in the order of their newest responses.
/// 2. Those before `oldestAnswered` have no answers; it and all after it have some.
struct LedgerClients: Sendable {
    private let limits: MutationLedger.Limits
    private var clients: TreeDictionary<MutationScope, LedgerClient> = [:]
    /// The clients idle longest and shortest.
    private var oldest: MutationScope?
    private var newest: MutationScope?
    private var oldestAnswered: MutationScope?
    /// The approximate total size.
    private(set) var byteCount = 0

    init(limits: MutationLedger.Limits) { self.limits = limits }

    var clientCount: Int { clients.count }

    /// The sequence of the newest response; 0 for none.
    var lastSequence: UInt64 { newest.flatMap { clients[$0]?.lastSequence } ?? 0 }

    var scopes: some Collection<MutationScope> { clients.keys }

    subscript(scope: MutationScope) -> LedgerClient? { clients[scope] }

    mutating func record(
        _ number: UInt64, of scope: MutationScope, _ answer: MutationLedger.Answer
    ) {
        assert(
            lastSequence <= answer.sequence,
            "responses are noted in log order")
        moveToEnd(scope)
        change(scope) { [limits] client in
            client.lastSequence = answer.sequence
            client.add(number, answer)
            while client.answerCount > limits.answers {
                client.dropOldest(rangeLimit: limits.ranges)
            }
        }
        if oldestAnswered == nil { oldestAnswered = scope }
        trim(after: answer.sequence)
        assert(newest == scope, "the client that was answered last is silent for the shortest time")
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

    mutating func trim(after sequence: UInt64) {
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

    /// Adds a client whose newest response is the newest of all.
    mutating func restore(_ entry: MutationLedger.Entry) {
        moveToEnd(entry.scope)
        change(entry.scope) { client in
            let (older, newer) = (client.older, client.newer)
            client = LedgerClient(
                lastSequence: entry.lastSequence, applied: entry.applied, answers: entry.answers)
            (client.older, client.newer) = (older, newer)
        }
        if oldestAnswered == nil, !entry.answers.isEmpty { oldestAnswered = entry.scope }
    }

    /// Whether everything beyond the limits has been dropped.
    var isWithinLimits: Bool {
        clients.count <= limits.clients && byteCount <= limits.bytes
            && clients.values.allSatisfy { $0.answerCount <= limits.answers }
    }
}

extension MutationScope {
    fileprivate var cost: Int { client.utf8.count + (viewer?.utf8.count ?? 0) }
}
