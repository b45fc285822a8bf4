import Publishing
import Relay
import RelayArtifacts
import TerminalUI
import Threads

/// What a view keeps of a query: one request at a time, and its data.
@MainActor
final class QueryLoader<Operation: Relay.Operation>: ViewStorage {
    private weak var node: ViewNode?
    private var environment: Environment?
    private var fetchPolicy = FetchPolicy.networkOnly
    private var current: Request?
    private var isEnded = false
    /// While the view is evaluated, which sees what has come.
    private var isBeginning = false

    /// One set of variables, from when it was asked for until there is another.
    private struct Request {
        let operation: OperationDescriptor
        let key: AnyHashable?
        let environment: Environment
        let retention: AnyCancellable
        /// What the network, or the store on its behalf, has said.
        var answers: QueryAnswers?
        /// What is shown; nil: there is nothing yet.
        var follower: RecordFollower<Operation.Data>?
        var failure: (any Error)?
        var errors: [GraphQLError] = []
        /// Those that wait for an answer.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    init(_ node: ViewNode) { self.node = node }

    func use(_ environment: Environment?, _ fetchPolicy: FetchPolicy) {
        self.environment = environment
        self.fetchPolicy = fetchPolicy
        if environment == nil, let current {
            end(current)
            self.current = nil
        }
    }

    // MARK: What the view reads

    func result(_ variables: Operation.Variables, _ key: AnyHashable?) -> Query<Operation>.Result {
        guard let environment, !isEnded else { return .failure(NoEnvironmentError()) }
        let operation = Operation.createDescriptor(variables: variables)
        let isSame =
            current.map {
                $0.operation == operation && $0.key == key && $0.environment === environment
            } ?? false
        if !isSame { begin(operation, key, environment) }
        guard let current else { return .loading }
        if let follower = current.follower {
            do {
                return .success(try follower.snapshot.value())
            } catch {
                return .failure(error)
            }
        }
        return current.failure.map { .failure($0) } ?? .loading
    }

    var refreshError: (any Error)? { current?.follower == nil ? nil : current?.failure }

    var errors: [GraphQLError] { current?.errors ?? [] }

    // MARK: Requests

    private func begin(
        _ operation: OperationDescriptor, _ key: AnyHashable?, _ environment: Environment
    ) {
        let old = current
        current = Request(
            operation: operation, key: key, environment: environment,
            retention: environment.retain(operation: operation))
        isBeginning = true
        fetch(fetchPolicy)
        isBeginning = false
        // After the new one has begun, which may need the same records.
        if let old { end(old) }
    }

    private func fetch(_ policy: FetchPolicy) {
        guard let current, let node else { return }
        current.answers?.cancel()
        let answers = QueryAnswers(current.operation, node.graph.mail) { [weak self] in
            self?.take($0)
        }
        self.current?.answers = answers
        answers.begin(
            QueryResource(environment: current.environment)
                .prepare(operation: current.operation, fetchPolicy: policy))
        // What the store has is there at once.
        answers.receive()
    }

    private func take(_ answers: QueryAnswers) {
        guard var request = current, request.answers === answers, let node else { return }
        let outcome = answers.outcome
        var looksDifferent = outcome.failure != nil || request.failure != nil
        request.failure = outcome.failure
        if outcome.isShown {
            if request.errors != outcome.errors { looksDifferent = true }
            request.errors = outcome.errors
        }
        if outcome.isShown, request.follower == nil {
            looksDifferent = true
            request.follower = RecordFollower(
                request.operation.fragment, in: request.environment, node.graph
            ) { [weak node] in
                if let node { node.graph.invalidate(node) }
            }
        }
        // What the store has is no answer.
        let waiting = outcome.isAnswer ? request.waiting : []
        if outcome.isAnswer { request.waiting = [] }
        current = request
        if looksDifferent, !isBeginning { node.graph.invalidate(node) }
        for continuation in waiting { continuation.resume() }
    }

    func refetch() async {
        guard let node, current != nil else { return }
        if current?.follower == nil { current?.failure = nil }
        fetch(.networkOnly)
        node.graph.invalidate(node)
        if current?.answers?.outcome.isAnswer ?? true { return }
        await withCheckedContinuation { current?.waiting.append($0) }
    }

    func end() {
        isEnded = true
        if let current { end(current) }
        current = nil
    }

    private func end(_ request: Request) {
        request.answers?.cancel()
        request.follower?.end()
        request.retention.cancel()
        for continuation in request.waiting { continuation.resume() }
    }
}

/// What one request has brought, until the main actor takes it.
final class QueryAnswers: MailSource {
    struct Outcome {
        /// There is data in the store to be shown.
        var isShown = false
        /// The network has answered, or the policy does not ask it.
        var isAnswer = false
        var failure: (any Error)?
        var errors: [GraphQLError] = []
    }

    private struct State {
        var outcome = Outcome()
        var isNew = false
        var isCancelled = false
    }

    private let state = Lock(State())
    /// The name of a live query, whose stream does not end by itself.
    private let liveName: String?
    private let mail: ViewMail
    @MainActor private let take: (QueryAnswers) -> Void
    @MainActor private var subscription: AnyCancellable?

    @MainActor init(
        _ operation: OperationDescriptor, _ mail: ViewMail,
        _ take: @escaping @MainActor (QueryAnswers) -> Void
    ) {
        let parameters = operation.request.node.params
        liveName = parameters.isLive == true ? parameters.name : nil
        self.mail = mail
        self.take = take
    }

    var outcome: Outcome { state.withLock { $0.outcome } }

    @MainActor func begin(
        _ results: AnyPublisher<Result<QueryResource.QueryResult, any Error>?, Never>
    ) {
        subscription = results.sink(
            receiveCompletion: { [weak self] _ in
                self?.note { [liveName = self?.liveName] outcome in
                    if let liveName, outcome.isAnswer, outcome.failure == nil {
                        outcome.failure = LiveQueryEndedError(operation: liveName)
                    }
                    // A network that ends without an answer has none.
                    if outcome.failure == nil { outcome.isShown = true }
                    outcome.isAnswer = true
                }
            },
            receiveValue: { [weak self] result in
                switch result {
                case nil: break
                case .success(let result)?:
                    self?.note { outcome in
                        outcome.isShown = true
                        outcome.failure = nil
                        outcome.errors = result.errors
                        if result.source == .fetched { outcome.isAnswer = true }
                    }
                case .failure(let error)?:
                    self?.note { outcome in
                        outcome.failure = error
                        outcome.isAnswer = true
                    }
                }
            })
    }

    private func note(_ change: (inout Outcome) -> Void) {
        let isNew = state.withLock { state in
            if state.isCancelled { return false }
            change(&state.outcome)
            state.isNew = true
            return true
        }
        if isNew { mail.post(self) }
    }

    @MainActor func receive() {
        let isNew = state.withLock { state in
            defer { state.isNew = false }
            return state.isNew && !state.isCancelled
        }
        if isNew { take(self) }
    }

    @MainActor func cancel() {
        state.withLock { $0.isCancelled = true }
        subscription?.cancel()
        subscription = nil
    }
}
