import Console

/// The operations that were begun, with the results that are kept.
@MainActor
final class OperationRuns {
    /// Oldest first.
    private(set) var all: [OperationRun] = []
    /// The one whose results are shown.
    private(set) var shown: OperationRun?
    private let changed: @MainActor (OperationRun) -> Void
    private var count = 0

    /// So many are kept: the oldest that have ended are forgotten, and when none has, no more is begun.
    static let limit = 100
    /// So many results are taken at a time: keys come in between.
    private static let batchLimit = 1_000
    /// Beyond it, the oldest results of the oldest operations are dropped.
    static let byteLimit = 128 << 20

    /// - Parameter changed: told of each result and each end.
    init(changed: @escaping @MainActor (OperationRun) -> Void) { self.changed = changed }

    /// Makes room for another one.
    /// - Returns: false if too many are running.
    func makeRoom() -> Bool {
        guard all.count >= Self.limit else { return true }
        guard let oldest = all.firstIndex(where: { !$0.isRunning }) else { return false }
        all.remove(at: oldest)
        return true
    }

    /// Begins one, and shows it.
    func begin(_ title: String, _ results: OperationResults, measuresConnection: Bool) {
        count += 1
        let run = OperationRun(id: count, title: title, measuresConnection: measuresConnection)
        all.append(run)
        shown = run
        run.task = Task { [weak self] in await self?.follow(run, results) }
    }

    func show(_ run: OperationRun) { shown = run }

    func endAll() {
        for run in all { run.task?.cancel() }
    }

    private func follow(_ run: OperationRun, _ results: OperationResults) async {
        do {
            var results = results.makeAsyncIterator()
            while let batch = try await results.nextBatch(limit: Self.batchLimit) {
                if run.latency == nil { run.latency = .now - run.began }
                for result in batch {
                    run.results.append(KeptResult(result, number: run.results.count + 1))
                }
                run.state = .live
                dropOldest()
                changed(run)
            }
            run.state = Task.isCancelled ? .stopped : .ended
        } catch {
            run.state = .failed("\(error)")
        }
        changed(run)
    }

    private func dropOldest() {
        var excess = all.reduce(-Self.byteLimit) { $0 + $1.results.byteCount }
        // Many at a time, for the others move up.
        if excess > 0 { excess += Self.byteLimit / 8 }
        // First what has ended, then what is live.
        for run in all where excess > 0 && !run.isRunning && run !== shown {
            excess -= run.results.dropAll()
        }
        for run in all where excess > 0 { excess -= run.results.drop(bytes: excess) }
    }
}
