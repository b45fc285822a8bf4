import Threads

/// Something outside the main actor that has news for views, such as a store of data.
package protocol MailSource: AnyObject, Sendable {
    /// Gives the views all that has come.
    @MainActor func receive()
}

/// What other threads have for the views of a screen, until the main actor takes it.
///
/// All of it is taken before each frame, and before each key: what has come together is seen together. A source is in
/// here once, however much it has, so there are no more entries than views have properties.
package final class ViewMail: Sendable {
    private struct State {
        var sources: [any MailSource] = []
        var known: Set<ObjectIdentifier> = []
        var arrived: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    init() {}

    /// - Parameter arrived: called by any thread when there is mail, and had been none.
    func open(_ arrived: @escaping @Sendable () -> Void) {
        state.withLock { $0.arrived = arrived }
    }

    /// What comes from here on is nobody's.
    /// - Returns: those that have something still.
    func close() -> [any MailSource] {
        state.withLock { state in
            defer { state = State() }
            return state.sources
        }
    }

    /// A source has something. Any thread may call it.
    /// - Returns: whether it will be taken; false: there is no screen any more.
    @discardableResult
    package func post(_ source: some MailSource) -> Bool {
        let (isOpen, arrived) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard let arrived = state.arrived else { return (false, nil) }
            guard state.known.insert(ObjectIdentifier(source)).inserted else { return (true, nil) }
            state.sources.append(source)
            return (true, state.sources.count == 1 ? arrived : nil)
        }
        arrived?()
        return isOpen
    }

    /// Has all sources give what they have.
    @MainActor package func deliver() {
        let sources = state.withLock { state in
            defer { (state.sources, state.known) = ([], []) }
            return state.sources
        }
        for source in sources { source.receive() }
    }
}
