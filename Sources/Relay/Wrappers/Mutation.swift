import Foundation
import Publishing
public import RelayArtifacts

/// Runs a mutation from a view, and knows whether it is in flight.
///
///     @Mutation<ChangeTodoStatusMutation> var changeStatus
///     …
///     changeStatus.commit(variables: .init(input: .init(complete: true, id: id, userId: "me")))
@propertyWrapper
public struct Mutation<Operation: Relay.Operation> {
    private let environment: Environment?
    private let place: Place

    private final class Place {
        var inFlight: MutationsInFlight
        init(_ inFlight: MutationsInFlight) { self.inFlight = inFlight }
    }

    /// Uses the environment that is current when the mutation is committed.
    public init() { self.init(given: nil) }

    /// The same, with the mutation's type as an argument.
    public init(_ type: Operation.Type) { self.init() }

    /// For code that already has its environment.
    public init(environment: Environment) { self.init(given: environment) }

    private init(given environment: Environment?) {
        self.environment = environment
        place = Place(MutationsInFlight(environment: environment))
    }

    /// Runs the mutation, and says whether it is in flight.
    public var wrappedValue: Mutator { Mutator(inFlight: place.inFlight) }

    /// What counts its requests. A view is a value that is made again and again: what makes it goes on with what the
    /// first one had.
    package var inFlight: MutationsInFlight {
        get { place.inFlight }
        nonmutating set { place.inFlight = newValue }
    }

    /// What counts the requests of another view than those before.
    package func makeInFlight() -> MutationsInFlight { MutationsInFlight(environment: environment) }

    /// Runs a mutation.
    public struct Mutator {
        let inFlight: MutationsInFlight

        /// Whether any request of this mutation, begun here, is in flight.
        public var isInFlight: Bool { inFlight.readIsInFlight() }

        /// Runs the mutation.
        ///
        /// Updaters run on the thread that changes the store, in a view, too: they may use what they have been given,
        /// and not the view's state, which only the main actor may read. A function that needs a value of it takes a
        /// copy: `{ [draft] store, data in … }`.
        ///
        /// - Parameters:
        ///   - variables: those of the mutation.
        ///   - optimisticResponse: the expected answer; shown until the real one arrives.
        ///   - optimisticUpdater: further optimistic changes; runs after the optimistic response.
        ///   - updater: changes the store after the response was written to it.
        ///   - completion: called once: with the last result, nil if there was none, or with the error: a
        ///     ``NetworkError`` if the server refused the mutation. In a view it is called on the main actor, also when
        ///     the view is gone; elsewhere by the thread on which the network reports the end, or the one that commits.
        public func commit(
            variables: Operation.Variables, optimisticResponse: [String: Any]? = nil,
            optimisticUpdater: SelectorStoreUpdater? = nil, updater: SelectorStoreUpdater? = nil,
            completion: ((Result<Operation.Data?, any Error>) -> Void)? = nil
        ) {
            run(completion) { environment in
                environment.commitMutation(
                    Operation(variables: variables), optimisticResponse: optimisticResponse,
                    optimisticUpdater: optimisticUpdater, updater: updater)
            }
        }

        func run(
            _ completion: ((Result<Operation.Data?, any Error>) -> Void)?,
            _ mutation: (Environment) -> AnyPublisher<Operation.Data?, any Error>
        ) {
            guard let environment = inFlight.environment ?? CurrentEnvironment.value else {
                if let completion { inFlight.end(completion, .failure(NoEnvironmentError())) }
                return
            }
            inFlight.run(mutation(environment), completion ?? { _ in })
        }
    }
}

extension Mutation.Mutator where Operation.Variables == EmptyVariables {
    /// Runs a mutation that has no variables.
    public func commit(
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil,
        completion: ((Result<Operation.Data?, any Error>) -> Void)? = nil
    ) {
        commit(
            variables: EmptyVariables(), optimisticResponse: optimisticResponse,
            optimisticUpdater: optimisticUpdater, updater: updater, completion: completion)
    }
}

/// Holds the subscriptions of mutations until they complete.
package final class MutationsInFlight: @unchecked Sendable {
    // Unchecked: everything that changes is behind the lock.

    /// How views follow it.
    package struct Follower: Sendable {
        /// Called whenever ``MutationsInFlight/isOutdated()`` may have become true: on any thread, also on the one that
        /// commits.
        package var changed: @Sendable () -> Void
        /// Has a completion called where the view is; it may have gone.
        package var end: @Sendable (MutationEnd) -> Void

        package init(
            changed: @escaping @Sendable () -> Void,
            end: @escaping @Sendable (MutationEnd) -> Void
        ) {
            self.changed = changed
            self.end = end
        }
    }

    private let lock = NSLock()
    private let own: Environment?
    private var given: Environment?
    private var running: [Int: AnyCancellable?] = [:]
    private var started = 0
    /// What was read of it since ``isOutdated()`` was true.
    private var seen: Set<Bool> = []
    private var follower: Follower?

    /// - Parameter environment: whose network is asked; nil: the one that is current at that time.
    init(environment: Environment?) { own = environment }

    var environment: Environment? { own ?? lock.withLock { given } }

    /// Uses an environment from here on, unless it has one of its own.
    package func use(_ environment: Environment?) {
        lock.withLock { given = environment }
    }

    package func follow(_ follower: Follower) {
        lock.withLock { self.follower = follower }
    }

    func readIsInFlight() -> Bool {
        lock.withLock {
            seen.insert(!running.isEmpty)
            return !running.isEmpty
        }
    }

    /// Whether somebody may show what is no longer so, and is to read it again. An action may have read it since it was
    /// shown: so not only what was read last counts.
    package func isOutdated() -> Bool {
        lock.withLock {
            guard seen.contains(running.isEmpty) else { return false }
            seen = []
            return true
        }
    }

    /// Subscribes; calls `completion` once, after the mutation is no longer counted.
    func run<Output>(
        _ publisher: AnyPublisher<Output?, any Error>,
        _ completion: @escaping (Result<Output?, any Error>) -> Void
    ) {
        let (number, follower) = lock.withLock {
            started += 1
            running[started] = .some(nil)
            return (started, self.follower)
        }
        follower?.changed()
        var last: Output?
        let subscription = publisher.sink(
            receiveCompletion: { [self] end in
                let follower = lock.withLock {
                    running.removeValue(forKey: number)
                    return self.follower
                }
                follower?.changed()
                switch end {
                case .finished: self.end(completion, .success(last))
                case .failure(let error): self.end(completion, .failure(error))
                }
            },
            receiveValue: { last = $0 })
        lock.withLock { if running[number] != nil { running[number] = subscription } }
    }

    /// Calls a completion: where the view is, or else here.
    func end<Output>(
        _ completion: @escaping (Result<Output?, any Error>) -> Void,
        _ result: Result<Output?, any Error>
    ) {
        let end = MutationEnd { completion(result) }
        if let follower = lock.withLock({ follower }) { follower.end(end) } else { end() }
    }
}

/// A completion with its result, to be called once.
package struct MutationEnd: @unchecked Sendable {
    // Unchecked: a completion is a closure of the program. It crosses from the thread that commits the mutation to the
    // one that calls it, once.

    private let completion: () -> Void

    init(_ completion: @escaping () -> Void) { self.completion = completion }

    package func callAsFunction() { completion() }
}
