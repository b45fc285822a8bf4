import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import RelayStore
import Synchronization

/// Tells subscriptions what is durable: one commit, one result, in log order.
///
/// One queue takes commits and new subscriptions, so a subscription starts exactly between two commits:
/// what it is told first and what follows have neither gap nor overlap.
final class Publisher: Sendable {
    enum Message: Sendable {
        case steps([Step])
        case subscribe(SubscriptionRequest)
        case unsubscribe(any SubscriptionSink)
    }

    private let deliver: @Sendable ([Delivery]) -> Void
    private let catchUp: @Sendable (SubscriptionRequest, UInt64) -> Void
    private let queue = SerialQueue<Message>(limit: .max)  // bounded by commits and connections
    private let table: Mutex<SubscriptionTable>
    private let toldThrough: Atomic<UInt64>

    /// - Parameters:
    ///   - deliver: called with what each batch of messages leads to, in order.
    ///   - catchUp: takes a subscription to be resumed behind an event for which the log has to be read.
    init(
        _ table: sending SubscriptionTable,
        deliver: @escaping @Sendable ([Delivery]) -> Void,
        catchUp: @escaping @Sendable (SubscriptionRequest, UInt64) -> Void
    ) {
        self.deliver = deliver
        self.catchUp = catchUp
        toldThrough = Atomic(table.snapshot.sequence)
        self.table = Mutex(table)
    }

    func post(_ message: Message) {
        _ = queue.post(message) { messages in
            let (output, sequence) = self.table.withLock { table in
                for message in messages { table.handle(message) }
                return (table.takeOutput(), table.snapshot.sequence)
            }
            if !output.deliveries.isEmpty { self.deliver(output.deliveries) }
            for (request, sequence) in output.behind { self.catchUp(request, sequence) }
            self.toldThrough.store(sequence, ordering: .releasing)
        }
    }

    /// Messages that it has not come to.
    var waitingCount: Int { queue.count }

    /// Subscriptions and groups of equal ones.
    var counts: (subscriptions: Int, groups: Int) { table.withLock { $0.counts } }

    /// Executions of subscriptions, and those that were saved because others had asked the same.
    var executions: (run: Int, saved: Int) { table.withLock { $0.executions } }

    /// Whatever this commit and those before it lead to has been handed to `deliver`.
    var deliveredThrough: UInt64 { toldThrough.load(ordering: .acquiring) }
}
