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
    private let inFlight: MutationsInFlight

    /// Uses the environment that is current when the mutation is committed.
    public init() { inFlight = MutationsInFlight(environment: nil) }

    /// The same, with the mutation's type as an argument.
    public init(_ type: Operation.Type) { self.init() }

    /// For code that already has its environment.
    public init(environment: Environment) {
        inFlight = MutationsInFlight(environment: environment)
    }

    /// Runs the mutation, and says whether it is in flight.
    public var wrappedValue: Mutator { Mutator(inFlight: inFlight) }

    /// Runs a mutation.
    public struct Mutator {
        let inFlight: MutationsInFlight

        /// Whether any request of this mutation, begun here, is in flight.
        public var isInFlight: Bool { inFlight.count > 0 }

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
final class MutationsInFlight: @unchecked Sendable {
    // Unchecked: everything that changes is behind the lock.

    let environment: Environment?
    private let lock = NSLock()
    private var running: [Int: AnyCancellable?] = [:]
    private var started = 0

    init(environment: Environment?) { self.environment = environment }

    var count: Int { lock.withLock { running.count } }

    /// Subscribes; calls `completion` once, after the mutation is no longer counted.
    func run<Output>(
        _ publisher: AnyPublisher<Output?, any Error>,
        _ completion: @escaping (Result<Output?, any Error>) -> Void
    ) {
        let number = lock.withLock {
            started += 1
            running[started] = .some(nil)
            return started
        }
        var last: Output?
        let subscription = publisher.sink(
            receiveCompletion: { [self] end in
                _ = lock.withLock { running.removeValue(forKey: number) }
                switch end {
                case .finished: completion(.success(last))
                case .failure(let error): completion(.failure(error))
                }
            },
            receiveValue: { last = $0 })
        lock.withLock { if running[number] != nil { running[number] = subscription } }
    }
}
