import Foundation
import OpenCombine

@testable import Relay

/// A network whose requests are answered by the lane of a model test that made them.
final class LaneNetwork: Network {
    /// What one lane has asked and not taken yet.
    final class Requests: @unchecked Sendable {
        // Unchecked: everything is behind the lock.
        private let lock = NSLock()
        private var made: [Request] = []

        func add(_ request: Request) { lock.withLock { made.append(request) } }

        /// What was asked since this was called last.
        func take() -> [Request] {
            lock.withLock {
                defer { made = [] }
                return made
            }
        }
    }

    /// One that somebody has subscribed to. Whatever is sent from then on arrives.
    final class Request: Sendable {
        // A run has a lock of its own.
        nonisolated(unsafe) private let run: Execution<Data>.Run

        fileprivate init(_ run: Execution<Data>.Run) { self.run = run }

        func send(_ json: String) { run.send(Data(json.utf8)) }
        func complete() { run.complete(.finished) }
        func fail(_ error: any Error) { run.complete(.failure(error)) }
    }

    /// The lane that is at work on this thread.
    @TaskLocal static var current: Requests?

    /// - Parameter cacheConfig: of a mutation, whose lane is its `metadata`: another lane's thread may send it.
    func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        ExecutionPublisher { run in
            (cacheConfig.metadata as? Requests ?? Self.current)?.add(Request(run))
            return AnyCancellable {}
        }.eraseToAnyPublisher()
    }
}
