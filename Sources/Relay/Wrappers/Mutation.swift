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
    private let place: Place

    private final class Place {
        var inFlight: MutationsInFlight
        init(_ inFlight: MutationsInFlight) { self.inFlight = inFlight }
    }

    /// Uses the environment that is current when the mutation is committed.
    public init() { place = Place(MutationsInFlight(environment: nil)) }

    /// The same, with the mutation's type as an argument.
    public init(_ type: Operation.Type) { self.init() }

    /// For code that already has its environment.
    public init(environment: Environment) {
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

    /// Runs a mutation.
    public struct Mutator {
        let inFlight: MutationsInFlight

        /// Whether any request of this mutation, begun here, is in flight.
        public var isInFlight: Bool { inFlight.readIsInFlight() }

        /// Runs the mutation.
        ///
        /// - Parameters:
        ///   - variables: those of the mutation.
        ///   - optimisticResponse: the expected answer; shown until the real one arrives.
        ///   - optimisticUpdater: further optimistic changes; runs after the optimistic response.
        ///   - updater: changes the store after the response was written to it.
        ///   - completion: called once: with the last result, nil if there was none, or with the
        ///     error.
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
                completion?(.failure(NoEnvironmentError()))
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

    private let lock = NSLock()
    private let own: Environment?
    private var given: Environment?
    private var running: [Int: AnyCancellable?] = [:]
    private var started = 0
    /// What somebody has read of it last.
    private var seen: Bool?
    private var changed: (@Sendable () -> Void)?

    /// - Parameter environment: whose network is asked; nil: the one that is current at that time.
    init(environment: Environment?) { own = environment }

    var environment: Environment? { own ?? lock.withLock { given } }

    /// Uses an environment from here on, unless it has one of its own.
    package func use(_ environment: Environment?) {
        lock.withLock { given = environment }
    }

    /// Calls `changed` whenever ``isOutdated`` may have become true: on any thread, also on the one that commits.
    package func follow(_ changed: (@Sendable () -> Void)?) {
        lock.withLock { self.changed = changed }
    }

    var count: Int { lock.withLock { running.count } }

    func readIsInFlight() -> Bool {
        lock.withLock {
            seen = !running.isEmpty
            return !running.isEmpty
        }
    }

    /// Whether somebody has read whether there are any, and it is no longer so.
    package var isOutdated: Bool { lock.withLock { seen.map { $0 == running.isEmpty } ?? false } }

    /// Subscribes; calls `completion` once, after the mutation is no longer counted.
    func run<Output>(
        _ publisher: AnyPublisher<Output?, any Error>,
        _ completion: @escaping (Result<Output?, any Error>) -> Void
    ) {
        let (number, changed) = lock.withLock {
            started += 1
            running[started] = .some(nil)
            return (started, self.changed)
        }
        changed?()
        var last: Output?
        let subscription = publisher.sink(
            receiveCompletion: { [self] end in
                let changed = lock.withLock {
                    running.removeValue(forKey: number)
                    return self.changed
                }
                changed?()
                switch end {
                case .finished: completion(.success(last))
                case .failure(let error): completion(.failure(error))
                }
            },
            receiveValue: { last = $0 })
        lock.withLock { if running[number] != nil { running[number] = subscription } }
    }
}
