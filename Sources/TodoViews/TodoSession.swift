import EventStore
import Foundation
public import Relay
public import RelayNetwork
import Threads

/// Told how a mutation ended.
public typealias Ended = (Result<Void, any Error>) -> Void

/// What the client works with as long as it runs: the connection to a server, and a store on disk or in memory.
public final class TodoSession: Sendable {
    /// What the last line of the screen is about.
    public struct Status: Hashable, Sendable {
        /// The state of the connection.
        public enum Connection: Hashable, Sendable {
            /// It is being made.
            case connecting
            /// There is one.
            case live
            /// There is none; with the time until the next attempt, in whole seconds.
            case offline(retryInSeconds: Int?)
        }

        /// Whether there is a server.
        public var connection = Connection.connecting
        /// What went wrong last.
        public var notice: String?
    }

    /// The network and the store.
    public let environment: Relay.Environment
    private let journal: FileJournal?
    private let status = StatusLine()

    /// - Parameters:
    ///   - url: the server, as `ws://HOST:PORT/graphql`.
    ///   - directory: where the store is kept; nil: in memory.
    ///   - options: of the connection.
    /// - Throws: if the URL is none, or the directory cannot be used.
    public init(
        url: String, directory: String? = nil,
        options: WebSocketNetwork.Options = WebSocketNetwork.Options()
    ) throws {
        var options = options
        // A list that is shown waits for the server, however long that takes.
        options.queryAttempts = .max
        let status = status
        options.onEvent = { status.note($0) }
        let network = try WebSocketNetwork(url: url, options: options)
        journal = try directory.map { try FileJournal(directory: $0) }
        environment = Environment(
            network: network, store: try journal.map { try Store(journal: $0) } ?? Store())
        try environment.keep(TodoListQuery(complete: nil))
        try resume()
    }

    /// Sends what an earlier run of the program has not sent.
    private func resume() throws {
        let status = status
        try environment.resumeMutations([
            ResumableMutation(AddTodoMutation.self), ResumableMutation(RemoveTodoMutation.self),
            ResumableMutation(ChangeTodoStatusMutation.self),
            ResumableMutation(RenameTodoMutation.self), ResumableMutation(MoveTodoMutation.self),
        ]) { mutation in
            if case .failure(let error) = mutation.result { status.noteFailure(error) }
        }
    }

    /// The status now, and whenever it is another. For one reader.
    var statuses: AsyncStream<Status> { status.stream }

    /// A mutation has ended.
    func ended(_ result: Result<Void, any Error>) {
        if case .failure(let error) = result { status.noteFailure(error) }
    }

    /// Ends it once everything is on the disk. What has no answer yet is sent by the next run.
    public func close() async {
        try? await environment.store.synchronize()
        journal?.close()
    }
}

/// What any thread has for the last line of the screen.
private final class StatusLine: Sendable {
    private let status = Lock(TodoSession.Status())
    private let continuation: AsyncStream<TodoSession.Status>.Continuation
    let stream: AsyncStream<TodoSession.Status>

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func change(_ change: (inout TodoSession.Status) -> Void) {
        status.withLock { status in
            change(&status)
            // Under the lock, so that the newest one is the last.
            continuation.yield(status)
        }
    }

    func noteFailure(_ error: any Error) {
        let notice =
            if let refusal = error as? NetworkError {
                "The server refused the change: it is taken back. "
                    + refusal.errors.map(\.message).joined(separator: " ")
            } else {
                "\(error)"
            }
        change { $0.notice = notice }
    }

    func note(_ event: NetworkEvent) {
        change { status in
            switch event {
            case .connected: (status.connection, status.notice) = (.live, nil)
            case .disconnected: status.connection = .offline(retryInSeconds: nil)
            case .waiting(let delay):
                status.connection = .offline(retryInSeconds: Int(delay.components.seconds))
            case .connecting, .resumed: break
            case .closed: status.connection = .connecting
            }
        }
    }
}
