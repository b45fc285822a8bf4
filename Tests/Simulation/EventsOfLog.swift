import DiskSimulation
import EventStore
import RelayJSON
@_spi(Rooms) import RelayStore

/// The events of a log, read from its files, and its mutations.
struct EventsOfLog {
    struct Mutation {
        /// Of its intent, and of its response.
        let intent, sequence: UInt64
        let field: String
        let id: MutationID?
        let viewer: String?
        let text: String?
        /// What its input calls it (`clientMutationId`).
        let tag: String?

        var name: String? { id.map { Facts.name("\($0)", of: viewer) } }
    }

    private(set) var events: [Event] = []
    private(set) var mutations: [Mutation] = []
    /// Mutations that were taken and not carried out, at least once.
    private(set) var revoked: Set<MutationID> = []

    /// Mutations of which there is something, in log order: of one whose handler waits the intent is there first.
    private(set) var begun: [(name: String?, field: String, tag: String?)] = []

    private var intents: [UInt64: MutationIntent] = [:]

    /// - Parameter archive: the events before the first that is kept.
    init(_ disk: SimulatedDisk, _ archive: [Event]) throws {
        let history = try History("log", fileSystem: disk)
        for event in archive.prefix(Int(history.first - 1)) { try add(event) }
        if let extent = history.extent {
            let iterator = try history.events(in: extent)
            while let event = try iterator.next() { try add(event) }
        }
        if history.first > events.count + 1 {
            throw Violation(
                "the log begins with \(history.first), and nobody dropped what is missing")
        }
    }

    /// What all of them lead to.
    func folded() throws -> Snapshot {
        var snapshot = Snapshot()
        var changes = ChangeSet()
        for event in events { try snapshot.fold(event, changes: &changes) }
        return snapshot
    }

    private mutating func add(_ event: Event) throws {
        if event.sequence != UInt64(events.count) + 1 {
            throw Violation("event \(event.sequence) follows event \(events.count)")
        }
        events.append(event)
        switch event.body {
        case .mutation(let intent):
            intents[event.sequence] = intent
            let name = intent.mutationID.map { Facts.name("\($0)", of: intent.viewer) }
            let input = try JSONValue(parsing: intent.argumentBytes)["input"]
            begun.append((name, intent.field, input?["clientMutationId"]?.string))
        case .response(let response):
            guard let intent = intents[response.mutation] else {
                throw Violation("response \(event.sequence) ends no mutation")
            }
            let input = try JSONValue(parsing: intent.argumentBytes)["input"]
            mutations.append(
                Mutation(
                    intent: response.mutation, sequence: event.sequence, field: intent.field,
                    id: intent.mutationID, viewer: intent.viewer, text: input?["text"]?.string,
                    tag: input?["clientMutationId"]?.string))
        case .revocation(let revocation):
            guard let intent = intents[revocation.mutation] else {
                throw Violation("revocation \(event.sequence) ends no mutation")
            }
            if let id = intent.mutationID { revoked.insert(id) }
        default: break
        }
    }
}
