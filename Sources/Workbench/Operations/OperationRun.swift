import GraphQLLanguage

/// An operation that was begun, with its results.
@MainActor
final class OperationRun: Identifiable {
    enum State: Equatable, Sendable {
        /// It has no result yet.
        case waiting
        /// More results may come.
        case live
        case ended
        case stopped
        case failed(String)
    }

    nonisolated let id: Int
    /// Its kind and its name, or its first field.
    let title: String
    let began = ContinuousClock.now
    var state = State.waiting
    var results = KeptResults()
    /// How long the first result took.
    var latency: Duration?
    /// The number of the result that is looked at; nil: the newest.
    var place: Int?
    var task: Task<Void, Never>?

    /// Whether the time to its first result says how far away the server is.
    let measuresConnection: Bool

    init(id: Int, title: String, measuresConnection: Bool) {
        self.id = id
        self.title = title
        self.measuresConnection = measuresConnection
    }

    var isRunning: Bool { state == .waiting || state == .live }

    /// What of it is shown.
    var subject: ResultPage.Subject.Run {
        let shown = looked ?? results[place ?? results.count]
        let number = shown?.number ?? 0
        return ResultPage.Subject.Run(
            title: title, state: state, latency: latency, count: results.count,
            droppedCount: results.droppedCount, shown: shown,
            before: shown?.followsGap == true ? nil : results[number - 1])
    }

    /// The result of which a value is looked at: it stays, also when it is dropped.
    private var looked: KeptResult?

    /// Stays at a result as long as a value of it is looked at.
    func look(at number: Int) { looked = results[number] }

    /// Goes on with what comes.
    func goOn() { looked = nil }

    /// Goes to another result.
    func move(by step: Int) {
        looked = nil
        let (first, last) = (results.droppedCount + 1, results.count)
        guard first <= last else { return }
        let now = place ?? last
        let next = step < first - now ? first : step > last - now ? last : now + step
        // At the newest, it goes on with what comes.
        place = next == last ? nil : next
    }
}

/// What is about to be run.
struct ChosenOperation {
    let name: String?
    /// Its name, or its first field.
    let label: String
    let type: OperationType

    /// The operation at a place of a document, or the nearest one before it.
    /// - Parameter offset: in UTF-8 bytes.
    init?(in document: Document, at offset: Int) {
        let operations = document.operations
        guard
            let operation = operations.last(where: { $0.location <= offset }) ?? operations.first
        else { return nil }
        name = operation.name?.value
        type = operation.operation
        var field: String?
        if case .field(let first)? = operation.selectionSet.selections.first {
            field = first.name.value
        }
        label = name ?? field ?? "without a name"
    }

    /// With its kind.
    var title: String { "\(type.rawValue) \(label)" }
}
