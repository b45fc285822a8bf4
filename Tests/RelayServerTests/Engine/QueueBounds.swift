import EventLog

@testable import RelayServer
@testable import StoreEngine

/// A queue, how much may wait in it, and what happens then.
///
/// A queue that is added to the server is added here; docs/websocket.md has the same lines, and a test compares.
struct QueueBound {
    let name: String
    let bound: String
    let atTheBound: String

    static func all(_ limits: GraphQLService.Limits = .init()) -> [QueueBound] {
        let refused = "`OVERLOADED`"
        return [
            QueueBound(
                name: "operations that are kept prepared",
                bound: "2 times \(OperationCache.generationBytes >> 20) MiB"
                    + " of documents, plans and normalizations",
                atTheBound: "those not used lately are prepared again"),
            QueueBound(
                name: "mutations that are taken and not answered",
                bound: """
                    `--max-waiting-mutations`, \(grouped(limits.waitingMutations)), and \
                    \(limits.waitingMutationBytes >> 20) MiB of requests
                    """, atTheBound: refused),
            QueueBound(
                name: "mutations whose handlers wait",
                bound: "`--max-waiting-handlers`, \(grouped(limits.waitingHandlers))",
                atTheBound: refused),
            QueueBound(
                name: "repeats of a mutation whose handler waits",
                bound: grouped(PendingHead.joinLimit), atTheBound: refused),
            QueueBound(
                name: "events on their way to the disk, and answers that wait for them",
                bound: "\(limits.inFlightBytes >> 20) MiB",
                atTheBound: "the writer waits, so mutations wait for it"),
            QueueBound(
                name: "events that the log has taken and not written",
                bound: "\(EventLogOptions().maximumWaitingBytes >> 20) MiB", atTheBound: refused),
            QueueBound(
                name: "commits of which subscriptions have not been told",
                bound: """
                    \(grouped(limits.unpublishedCommits)) or \(limits.unpublishedBytes >> 20) MiB
                    """, atTheBound: "the writer waits"),
            QueueBound(
                name: "results on their way to connections",
                bound: """
                    \(grouped(limits.undeliveredResults)) or \(limits.undeliveredResultBytes >> 20) MiB, \
                    and those of one commit
                    """, atTheBound: "telling waits, and with it the writer"),
            QueueBound(
                name: "the same, of what was missed",
                bound: """
                    \(grouped(CatchUp.settleSize.count)) or \(CatchUp.settleSize.byteCount >> 20) MiB \
                    or those of \(CatchUp.settleInterval) commits, and those of one commit
                    """, atTheBound: "telling of what was missed waits"),
            QueueBound(
                name: "missed results that wait for clients without room",
                bound: "\(limits.heldResultBytes >> 20) MiB"
                    + ", plus one result for each of two passes",
                atTheBound: "further ones are made only when their clients have room"),
            QueueBound(
                name: "what is prepared for the subscriptions that one pass serves",
                bound: "\(limits.catchUpPassBytes >> 20) MiB, plus one subscription's",
                atTheBound: "the others wait for the next pass, except equal ones"),
            QueueBound(
                name: "what subscriptions and live queries keep",
                bound: "`--max-subscription-bytes`, \(limits.subscriptionBytes >> 30) GiB"
                    + "; a quarter of it for all clients without a token where viewers have tokens",
                atTheBound: "the one that would keep more ends with `OVERLOADED`"),
            QueueBound(
                name: "subscriptions that wait to begin, with the commits before them",
                bound: grouped(limits.beginningSubscriptions), atTheBound: refused),
            QueueBound(
                name: "requests of subscriptions that wait to begin, and what is prepared for them",
                bound: "\(limits.beginningBytes >> 20) MiB, plus one subscription's for each pass",
                atTheBound: "\(refused); those that have caught up on the way, or cannot, wait"),
            QueueBound(
                name: "subscriptions that wait for what they have missed",
                bound: grouped(limits.resumingSubscriptions), atTheBound: refused),
            QueueBound(
                name: "subscriptions to sequences of Swift code whose tasks run",
                bound: """
                    \(grouped(limits.sequenceSubscriptions)), and \(limits.sequenceBytes >> 20) MiB of what is \
                    prepared
                    """, atTheBound: refused),
            QueueBound(
                name: "queries of the past that wait", bound: grouped(PastQueries.Limits().waiting),
                atTheBound: refused),
            QueueBound(
                name: "requests that wait for a newer state",
                bound: grouped(DurableHead.waiterLimit),
                atTheBound: refused),
            QueueBound(
                name: "questions about the history that wait",
                bound: "\(HistoryDesk.Limits().waiting) for events, and as many for states",
                atTheBound: "503"),
            QueueBound(
                name: "reads of the past", bound: "one for queries, one for resumed streams",
                atTheBound: "the next one waits for the last"),
            QueueBound(
                name: "tries of `/readyz` whether a full disk has room", bound: "1",
                atTheBound: "later requests share its answer"),
            QueueBound(
                name: "lines in the log about clients that were too slow",
                bound: "\(LineLimit.linesPerSecond) a second and loop",
                atTheBound: "a line says how many more there were"),
        ]
    }

    private static func grouped(_ number: Int) -> String {
        var digits = Array(String(number))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
        return String(digits)
    }
}
