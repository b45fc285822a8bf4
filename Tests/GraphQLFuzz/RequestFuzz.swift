import Dispatch
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import SchemaService
import StoreEngine

/// Whole requests, as a socket hands them in: queries (of the past, too), mutations under their ids, subscriptions
/// that are resumed. Whatever they say, each gets an answer.
enum RequestFuzz {
    /// A store grows with every mutation; after so many requests there is a new one.
    private static let requestsPerStore = 5_000
    /// libFuzzer has one thread.
    nonisolated(unsafe) private static var served: (count: Int, service: GraphQLService)?

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        guard case .object(let parameters)? = try? JSONValue(parsing: bytes),
            let request = try? GraphQLRequest(parameters, from: .unrestricted)
        else { return 0 }
        let service = nextService()
        guard let operation = try? service.prepare(request) else { return 0 }
        if operation.isStream {
            let sink = Sink()
            try? service.subscribe(operation, request, sink: sink)
            service.unsubscribe(sink)
        } else {
            let isAnswered = DispatchSemaphore(value: 0)
            service.execute(operation, request) { _ in isAnswered.signal() }
            isAnswered.wait()
        }
        return 0
    }

    private static func nextService() -> GraphQLService {
        if let (count, service) = served, count < requestsPerStore {
            served = (count + 1, service)
            return service
        }
        let snapshot = ExampleState.snapshot
        let journal = InMemoryJournal(epoch: 7)
        journal.append(
            [NewEvent(timeMicroseconds: 0, body: ExampleState.genesis)], expecting: 0,
            completion: { _ in })
        let service = GraphQLService(
            SchemaService(ExampleState.schema, symbols: snapshot.symbols), journal: journal,
            storeID: "fuzz", snapshot: snapshot, inputs: EngineInputs(now: { 0 }),
            deliver: { _ in })
        served = (0, service)
        return service
    }

    private final class Sink: SubscriptionSink {}
}
