extension Store {
    /// What a selector reads now. Waits for no writer.
    /// - Parameter previous: what was read before; parts that are the same are given again.
    package func lookup(
        _ selector: ReaderSelector, previous: SelectorSnapshot? = nil
    ) -> SelectorSnapshot {
        snapshot.read(selector, plan(selector), previous: previous?.data)
    }

    /// Tells when the data of a snapshot becomes another. If it has done so since it was read, at once.
    ///
    /// Subscriptions to one selector share one reading. The callback runs outside all locks, on whichever
    /// thread committed; it may read and write.
    /// - Returns: a token; telling ends when it is cancelled or let go of.
    package func subscribe(
        _ snapshot: SelectorSnapshot, _ tell: @escaping @Sendable (SelectorSnapshot) -> Void
    ) throws -> StoreSubscription {
        let selector = snapshot.selector
        let plan = plan(selector)
        return try write { writer, outcome in
            let token = SubscriptionID()
            let subscription = StoreSubscription(tell) { [weak self] in
                self?.afterwards { writer, _, _ in
                    writer.subscriptions.remove(ObjectIdentifier(token), selector)
                }
            }
            // A record that nobody spoke of yet must have a number to be waited for.
            _ = symbols.record(selector.dataID.rawValue)
            let new = writer.subscriptions.add(
                subscription, ObjectIdentifier(token), snapshot, plan, head: writer.state.head)
            if let new {
                outcome.calls.append { [weak subscription] in
                    if let subscription, subscription.isLive { subscription.tell(new) }
                }
            }
            return subscription
        }
    }
}

/// Names a subscription, also while it is going away.
private final class SubscriptionID: Sendable {}
