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
            /// There is none, and why.
            case offline(Attempt, reason: String)
        }

        /// What is done about it if there is no connection.
        public enum Attempt: Hashable, Sendable {
            /// Nothing, until something is to be sent.
            case none
            /// It is being made.
            case now
            /// It will be made in so many whole seconds.
            case later(seconds: Int)
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
        options.showsOptimistic = true
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
        if case .failure(let error) = result { note(error) }
    }

    /// Says that something went wrong.
    func note(_ error: any Error) {
        if !(error is CancellationError) { status.noteFailure(error) }
    }

    /// Ends it once everything is on the disk. What has no answer yet is sent by the next run.
    /// - Returns: what people have to know: that something is lost.
    @discardableResult
    public func close() async -> String? {
        defer { journal?.close() }
        do {
            try await environment.store.synchronize()
        } catch {
            return "What was changed is not all on the disk. \(error)"
        }
        let count = environment.optimisticEntries.count
        if journal != nil || count == 0 { return nil }
        let changes = count == 1 ? "1 change is" : "\(count) changes are"
        return "\(changes) lost: without a directory, what the server has not answered is not kept."
    }
}

extension TodoSession.Status {
    /// No effect while there is a connection.
    fileprivate var attempt: Attempt {
        get { if case .offline(let attempt, _) = connection { attempt } else { .none } }
        set {
            if case .offline(_, let reason) = connection {
                connection = .offline(newValue, reason: reason)
            }
        }
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
                "The server refused the change: "
                    + refusal.errors.map(\.message).joined(separator: " ") + " It is taken back."
            } else {
                "\(error)"
            }
        change { $0.notice = notice }
    }

    func note(_ event: NetworkEvent) {
        change { status in
            switch event {
            case .connected: (status.connection, status.notice) = (.live, nil)
            case .disconnected(let error):
                status.connection = .offline(.none, reason: error.message)
            case .waiting(let delay):
                status.attempt = .later(seconds: Int(delay.components.seconds))
            case .connecting: status.attempt = .now
            case .resumed: break
            case .closed: status.connection = .connecting
            }
        }
    }
}
