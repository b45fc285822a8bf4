import Publishing
import Relay
import TerminalUI

/// What a view keeps of a fragment that can be fetched again.
@MainActor
class RefetchStorage<F: RefetchFragment>: ViewStorage {
    final weak var node: ViewNode?
    private let shown: FragmentStorage<F.Data>
    final private(set) var environment: Environment?
    /// Where the view was told to read.
    private var given: FragmentPointer?
    /// Where it reads instead, since it was refetched with other variables.
    private var refetched: (pointer: FragmentPointer, retention: AnyCancellable)?
    /// What was begun for the view, and ends with it.
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var taskCount = 0

    init(_ node: ViewNode) {
        self.node = node
        shown = FragmentStorage(node)
    }

    final var data: F.Data? { shown.snapshot?.data }

    /// Where it reads now.
    final var pointer: FragmentPointer? { refetched?.pointer ?? given }

    final func show(_ pointer: FragmentPointer?, in environment: Environment?) {
        if pointer == given, environment === self.environment { return }
        let old = refetched
        given = pointer
        refetched = nil
        self.environment = environment
        follow()
        old?.retention.cancel()
    }

    private func follow() {
        let selector = pointer.map { SingularReaderSelector(fragment: F.node, pointer: $0) }
        shown.show(selector, in: environment)
        placeChanged()
    }

    /// It reads somewhere else.
    func placeChanged() {}

    /// The variables that a refetch has besides those given.
    var firstVariables: VariableData { [:] }

    func refetch(_ variables: VariableData) async -> (any Error)? {
        guard let given, let environment else { return NoEnvironmentError() }
        let fragment = PointedFragment<F>(key: given)
        return await run { [weak self] in
            guard let self else { return }
            var changed = firstVariables
            changed.merge(variables)
            let operation = environment.refetchOperation(fragment, changed)
            let retention = environment.retain(operation: operation)
            try await environment.refetch(fragment, variables: changed)
            guard self.given == given, self.environment === environment,
                let pointer = environment.refetched(F.self, by: operation)
            else { return }
            let old = refetched
            refetched = (pointer, retention)
            follow()
            old?.retention.cancel()
            if let node { node.graph.invalidate(node) }
        }
    }

    /// Runs something until it is done or the view is gone.
    final func run(_ work: @escaping @MainActor () async throws -> Void) async -> (any Error)? {
        guard node?.isMounted ?? false else { return CancellationError() }
        var failure: (any Error)?
        let task = Task {
            do { try await work() } catch { failure = error }
        }
        taskCount += 1
        let number = taskCount
        tasks[number] = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        tasks[number] = nil
        return failure
    }

    func end() {
        for task in tasks.values { task.cancel() }
        shown.end()
        refetched?.retention.cancel()
        refetched = nil
    }
}
