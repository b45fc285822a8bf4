import GraphQLLanguage

extension GraphQLService {
    package struct Limits: Sendable {
        /// Limit on mutations in progress (not yet answered); beyond it, new ones are refused.
        package var waitingMutations = 65_536
        /// Limit on the request bytes of mutations in progress; beyond it, new ones are refused.
        package var waitingMutationBytes = 256 << 20
        /// Limit on mutations waiting for their handlers; beyond it, new ones are refused.
        package var waitingHandlers = 1_024
        /// Limit on the bytes that one mutation may write, arguments included; beyond it, the mutation is
        /// refused. The largest usual message writes a fifth of this, unless it uses one variable many times.
        package var mutationBytes = 64 << 20
        /// Bytes of events in flight to the disk, plus the answers that wait for them, beyond which the
        /// writer takes no turn. Far below what a journal accepts, so a journal hardly ever has to refuse
        /// anything.
        package var inFlightBytes = 4 << 20
        /// Mutations in one turn of the writer. This bounds how long the first of them waits for the last.
        package var turnMutations = 256
        /// Commits not yet published to subscriptions beyond which the writer takes no turn.
        package var unpublishedCommits = 8_192
        /// Bytes of such commits beyond which the writer takes no turn.
        package var unpublishedBytes = 64 << 20
        /// Results in flight to connections beyond which publishing pauses.
        package var undeliveredResults = 131_072
        /// Bytes of such results beyond which publishing pauses. A result shared by many connections counts
        /// once.
        package var undeliveredResultBytes = 64 << 20
        /// Bytes of missed results that wait for clients without room; beyond that they are made when there is room.
        package var heldResultBytes = 64 << 20
        /// Approximate bytes of what is prepared for the subscriptions that are caught up together: documents, plans and
        /// normalizations.
        package var catchUpPassBytes = 256 << 20
        package var document = DocumentLimits()
        /// Events that may be folded to answer one query from the past.
        package var pastEvents = 500_000
        /// Commits kept in memory for subscriptions that were away.
        package var recentCommits = 4_096
        /// Events that may be folded for subscriptions that were away for longer, both up to their cursor and
        /// after it. Beyond that, the cursor is too old.
        package var resumeEvents = 1_000_000
        /// How long a request waits for the state that it asks for (`extensions.relay.atLeast`).
        package var catchUpTime = Duration.seconds(10)
        /// A state in memory is reused if it is at most this many events away, which is about the distance
        /// between two checkpoints. Otherwise the journal is checked for a later one.
        package var nearEvents = 50_000
        /// Approximate bytes that subscriptions and live queries may keep: documents, plans, normalizations, variables
        /// and, for live queries, the last results and what they were read from. A group of equal subscriptions
        /// that would exceed this is ended; new groups are refused from three quarters of it on.
        package var subscriptionBytes = 1 << 30
        /// Limit on subscriptions waiting to start, together with the commits queued ahead of them; beyond
        /// it, new ones are refused.
        package var beginningSubscriptions = 65_536
        /// Approximate bytes of the requests of subscriptions waiting to start, and of what is prepared for them; beyond it,
        /// new ones are refused, and those that go on after a pass wait.
        package var beginningBytes = 256 << 20
        /// Limit on subscriptions waiting to catch up; beyond it, new ones that resume are refused.
        package var resumingSubscriptions = 65_536
        /// Limit on open subscriptions to sequences from Swift code; beyond it, new ones are refused.
        package var sequenceSubscriptions = 65_536
        /// Approximate bytes of what is prepared for them; beyond it, new ones are refused.
        package var sequenceBytes = 256 << 20

        package init() {}
    }
}
