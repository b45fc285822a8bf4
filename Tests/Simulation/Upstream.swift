import RelayArtifacts
@_spi(Rooms) import RelayStore
import SchemaService
import Threads

/// A service of somebody else's, for whose answers a mutation's handler waits.
final class Upstream: Sendable {
    private let waiting = Lock<[UnsafeContinuation<Void, Never>]>([])

    /// Handlers that wait for it.
    var waitingCount: Int { waiting.withLock { $0.count } }

    /// Answers who has waited longest.
    func answer() {
        let first = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        first?.resume()
    }

    func answerAll() {
        while waitingCount > 0 { answer() }
    }

    private func wait() async {
        await withUnsafeContinuation { done in waiting.withLock { $0.append(done) } }
    }

    /// The schema's mutations, but that todos are renamed by a handler that waits.
    var handlers: Handlers {
        var handlers = Handlers()
        handlers.mutation(
            "renameTodo",
            waitingFor: { [self] _, _, _ in
                await wait()
                return { records, variables, _ in
                    guard let id = variables.input?["id"]?.stringValue.map({ DataID($0) }),
                        let todo = records[id]
                    else { throw HandlerError("There is no such todo.", code: "NOT_FOUND") }
                    todo["text"] = variables.input?["text"]?.stringValue
                    return id
                }
            })
        return handlers
    }
}
