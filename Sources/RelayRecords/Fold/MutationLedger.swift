/// Which mutations of each client were applied, and their answers.
///
/// A client numbers its mutations in increasing order. The newest answers of each client are kept; for
/// older mutations only the fact that they were applied. Part of the fold, so it survives restarts, uses no
/// clock, and is the same for all who fold the same events. Its size is bounded (``Limits``).
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

    /// Those of viewers, and of whoever may do everything.
    private var named: LedgerClients
    /// Those of clients without a token, which make up their names: they take nothing away from others.
    private var nobodys: LedgerClients

    package init(limits: Limits = Limits()) {
        named = LedgerClients(limits: limits)
        nobodys = LedgerClients(limits: limits.ofNobody)
    }

    /// The approximate total size.
    package var byteCount: Int { named.byteCount + nobodys.byteCount }

    package var clientCount: Int { named.clientCount + nobodys.clientCount }

    /// The sequence of the newest response; 0 for none.
    package var lastSequence: UInt64 { max(named.lastSequence, nobodys.lastSequence) }

    package func status(of id: MutationID, by viewer: String? = nil) -> Status {
        let scope = MutationScope(viewer: viewer, client: id.client)
        return clients(scope)[scope]?.status(of: id.number) ?? .new
    }

    /// Keeps an answer, and drops what exceeds the limits because of it.
    package mutating func record(_ id: MutationID, by viewer: String? = nil, _ answer: Answer) {
        let scope = MutationScope(viewer: viewer, client: id.client)
        if scope.isNobodys {
            nobodys.record(id.number, of: scope, answer)
            named.trim(after: answer.sequence)
        } else {
            named.record(id.number, of: scope, answer)
            nobodys.trim(after: answer.sequence)
        }
    }

    private func clients(_ scope: MutationScope) -> LedgerClients {
        scope.isNobodys ? nobodys : named
    }
}

extension MutationLedger.Limits {
    /// For the clients without a token.
    fileprivate var ofNobody: MutationLedger.Limits {
        var limits = self
        limits.clients = max(1, clients / 10)
        limits.bytes = bytes / 8
        return limits
    }
}

extension MutationScope {
    /// No viewer has an empty name.
    fileprivate var isNobodys: Bool { viewer?.isEmpty ?? false }
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
    package var scopes: [MutationScope] {
        (Array(named.scopes) + Array(nobodys.scopes)).sorted { $0.precedes($1) }
    }

    package func entry(of scope: MutationScope) -> Entry? {
        guard let client = clients(scope)[scope] else { return nil }
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
            if entry.scope.isNobodys {
                nobodys.restore(entry)
            } else {
                named.restore(entry)
            }
        }
    }

    /// Whether everything beyond the limits has been dropped.
    package var isWithinLimits: Bool { named.isWithinLimits && nobodys.isWithinLimits }
}
