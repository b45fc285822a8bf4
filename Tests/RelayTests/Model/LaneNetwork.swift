import Foundation
import OpenCombine
import Relay

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

    final class Request: Sendable {
        // A subject has a lock of its own.
        nonisolated(unsafe) private let subject = PassthroughSubject<Data, any Error>()

        var publisher: AnyPublisher<Data, any Error> { subject.eraseToAnyPublisher() }

        func send(_ json: String) { subject.send(Data(json.utf8)) }
        func complete() { subject.send(completion: .finished) }
        func fail(_ error: any Error) { subject.send(completion: .failure(error)) }
    }

    /// The lane that is at work on this thread.
    @TaskLocal static var current: Requests?

    func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        let request = Request()
        Self.current?.add(request)
        return request.publisher
    }
}
