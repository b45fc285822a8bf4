import Foundation
import Publishing

/// The queries that are being fetched: a request for one of them meanwhile, with the same variables,
/// waits for that answer and makes no request of its own.
final class SharedQueries: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var running: [RequestDescriptor: Running] = [:]
    private var count = 0

    private struct Running {
        let number: Int
        let responses: ExecutionPublisher<GraphQLResponse>
    }

    /// - Parameter begin: makes the request; called when the first subscriber comes.
    func responses(
        to request: RequestDescriptor, _ begin: @escaping Execution<GraphQLResponse>.Start
    ) -> ExecutionPublisher<GraphQLResponse> {
        lock.withLock {
            if let running = running[request] { return running.responses }
            count += 1
            let number = count
            let responses = ExecutionPublisher<GraphQLResponse> { [weak self] run in
                let work = begin(run.before(completion: { self?.remove(request, number) }))
                return AnyCancellable {
                    self?.remove(request, number)
                    work.cancel()
                }
            }
            running[request] = Running(number: number, responses: responses)
            return responses
        }
    }

    private func remove(_ request: RequestDescriptor, _ number: Int) {
        lock.withLock {
            if running[request]?.number == number { running[request] = nil }
        }
    }
}
