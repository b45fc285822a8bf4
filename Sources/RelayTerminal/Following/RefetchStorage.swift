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
    private var tasks: [Int: Work] = [:]
    private var taskCount = 0
    /// The refetch that was asked for last: earlier ones are shown no more, whatever comes last.
    private var refetching: Work?

    /// With why it failed.
    typealias Work = Task<(any Error)?, Never>

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
        refetching?.cancel()
        let work = begin { [weak self] in
            guard let self else { return }
            var changed = firstVariables
            changed.merge(variables)
            let operation = environment.refetchOperation(fragment, changed)
            let retention = environment.retain(operation: operation)
            try await environment.refetch(fragment, variables: changed)
            try Task.checkCancellation()
            guard self.given == given, self.environment === environment,
                let pointer = environment.refetched(F.self, by: operation)
            else { return }
            let old = refetched
            refetched = (pointer, retention)
            follow()
            old?.retention.cancel()
            if let node { node.graph.invalidate(node) }
        }
        refetching = work
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
    }

    /// Begins something that goes on until it is done or the view is gone.
    final func begin(_ work: @escaping @MainActor () async throws -> Void) -> Work {
        guard node?.isMounted ?? false else { return Work { CancellationError() } }
        taskCount += 1
        let number = taskCount
        let task = Work {
            defer { tasks[number] = nil }
            do {
                try await work()
                return nil
            } catch {
                return error
            }
        }
        tasks[number] = task
        return task
    }

    func end() {
        for task in tasks.values { task.cancel() }
        shown.end()
        refetched?.retention.cancel()
        refetched = nil
    }
}
