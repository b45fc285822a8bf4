import Console
import RelayArtifacts
import RelayIR
import RelayJSON
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import RelayStore

/// What passes through a store as it comes by default: `relay bench store --queries N --mutations N --events N`.
/// Nothing is retained, so a store that does not grow takes as much for the last as for the first.
struct StoreGrowth {
    enum Kind: String, CaseIterable {
        case query
        case mutation
        case event
    }

    private let store = Store()
    private let one: ConcreteRequest
    private let change: ConcreteRequest
    private let changed: ConcreteRequest

    init() throws {
        let documents = try StorePayload.documents()
        guard let one = documents.operation("One"), let change = documents.operation("Change"),
            let changed = documents.operation("Changed")
        else { throw CommandFailure("Could not compile the documents of the benchmark.") }
        (self.one, self.change, self.changed) = (one.request, change.request, changed.request)
    }

    /// - Parameter number: another each time.
    func pass(_ kind: Kind, _ number: Int) throws {
        switch kind {
        case .query: try query(number)
        case .mutation: try mutate(number)
        case .event: try notify(number)
        }
    }

    /// One root field with ever other arguments, of ever other records; the result is read.
    private func query(_ number: Int) throws {
        let operation = OperationDescriptor(one, variables: ["id": "todo:\(number)"])
        try store.commitPayload(operation, StorePayload.one(number))
        let read = store.lookup(ReaderSelector(operation))
        guard !read.isMissingData else { throw CommandFailure("A query lacks its data.") }
    }

    /// A mutation of one of a hundred records, expected and answered, under a number and a root of its own.
    private func mutate(_ number: Int) throws {
        let (index, text) = (number % 100, "Text \(number)")
        let operation = OperationDescriptor(
            change, variables: ["id": "todo:\(index)", "text": VariableValue(.string(text))],
            root: DataID("client:root:mutation:\(number)"))
        let answer = StorePayload.answer(index, text: text)
        let entry = try store.applyMutation(
            operation, mutationID: MutationID(client: "bench", number: UInt64(number) + 1),
            optimistic: OptimisticMutation(response: answer))
        try store.commitResponse(entry, operation, answer)
    }

    /// An event about a new record.
    private func notify(_ number: Int) throws {
        let operation = OperationDescriptor(
            changed, variables: [:], root: DataID("client:root:event:\(number)"))
        try store.commitPayload(operation, StorePayload.event(number))
    }
}
