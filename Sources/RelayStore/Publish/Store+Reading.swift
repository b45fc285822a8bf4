import RelayArtifacts
package import RelayReading
@_spi(Rooms) import RelayRecords

extension Store {
    /// Updaters may name the fields of the operation from now on; see ``Symbols/noteNullArguments(_:)``.
    package func noteSchema(of request: RequestDescriptor) {
        symbols.noteNullArguments(request.node.operation.nullArguments)
    }

    /// What a selector reads now. Waits for no writer.
    /// - Parameter previous: what was read before; parts that are the same are reused.
    package func lookup(
        _ selector: ReaderSelector, previous: SelectorSnapshot? = nil
    ) -> SelectorSnapshot {
        published.read(selector, plan(selector), previous: previous?.data)
    }

    /// Reports when the data of a snapshot changes; at once if it has changed since it was read.
    ///
    /// Subscriptions to one selector share one reading. The callback runs outside all locks, on whichever thread
    /// committed; it may read and write.
    /// - Returns: a token. Once it is cancelled or released, nothing more is reported, not even what has already
    ///   happened.
    package func subscribe(
        _ snapshot: SelectorSnapshot, _ tell: @escaping @Sendable (SelectorSnapshot) -> Void
    ) throws -> Retention {
        let selector = snapshot.selector
        let plan = plan(selector)
        return try write { writer, outcome in
            let listener = Listener(tell)
            let (current, isNew) = writer.subscriptions.add(
                listener, snapshot, plan, head: writer.state.head)
            writer.collection?.keep(current.seen)
            if isNew { outcome.deliveries.append(.data(listener, current)) }
            return Retention { [weak self] in
                listener.stop()
                self?.afterwards { writer, _, _ in
                    writer.subscriptions.remove(listener, selector)
                }
            }
        }
    }
}
