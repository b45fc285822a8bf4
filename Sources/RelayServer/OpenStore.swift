import EventStore
import GraphQLLanguage
import Logging
import RelayStore

/// A store that is open and folded, with the schema in force: what a server starts from.
final class OpenStore: Sendable {
    let journal: any EventJournal
    let storeID: String
    let snapshot: Snapshot
    let schemaService: SchemaService
    /// The journal, if it is one in files.
    let file: FileJournal?

    private init(
        _ journal: any EventJournal, storeID: String, _ snapshot: Snapshot, _ schema: ServiceSchema
    ) {
        self.journal = journal
        self.storeID = storeID
        self.snapshot = snapshot
        file = journal as? FileJournal
        schemaService = SchemaService(schema, symbols: snapshot.symbols)
    }

    /// Opens the journal, folds it, and brings the schema up to date: the first event of a new log holds
    /// schema and seed; a schema that has changed since becomes an event, if the records allow it.
    static func open(
        _ configuration: Server.Configuration, logger: Logger
    ) async throws -> OpenStore {
        let schema = try ServiceSchema([
            Source(configuration.schema, name: configuration.schemaName)
        ])
        switch configuration.storage {
        case .memory:
            // A history that nobody can have seen before: each start has an epoch of its own.
            let journal = InMemoryJournal(epoch: UInt64(WallClock.microseconds()))
            let snapshot = Snapshot(indexes: schema.indexes)
            let current = try await bringUpToDate(
                snapshot, schema, journal, configuration, logger)
            return OpenStore(journal, storeID: "memory", current, schema)
        case .directory(let directory, let options):
            let store = try EventStore.open(
                directory, indexes: schema.indexes, options: options)
            for sentence in store.report.sentences { logger.warning("\(sentence)") }
            logger.info("\(store.report.summary)")
            do {
                let current = try await bringUpToDate(
                    store.snapshot, schema, store.journal, configuration, logger)
                return OpenStore(
                    store.journal, storeID: store.journal.storeID, current, schema)
            } catch {
                store.journal.close()
                throw error
            }
        }
    }

    private static func bringUpToDate(
        _ snapshot: Snapshot, _ schema: ServiceSchema, _ journal: any EventJournal,
        _ configuration: Server.Configuration, _ logger: Logger
    ) async throws -> Snapshot {
        let time = WallClock.microseconds()
        let body: EventBody
        if snapshot.sequence == 0 {
            var seed = WriteSet.empty
            if let bytes = configuration.seed {
                let file = try SeedFile.read(bytes, for: schema, timeMicroseconds: time)
                for warning in file.warnings { logger.warning("\(warning)") }
                seed = file.writes
            }
            body = .genesis(schema: configuration.schema, seed: seed)
        } else {
            if configuration.seed != nil {
                logger.notice("The seed file is ignored: the log has events already.")
            }
            if snapshot.schema == configuration.schema { return snapshot }
            try schema.check(snapshot, writtenUnder: try? ServiceSchema(snapshot.schema))
            logger.notice("The schema has changed, and fits the records.")
            body = .schema(configuration.schema)
        }
        let sequence = try await journal.append(
            [NewEvent(timeMicroseconds: time, body: body)], expecting: snapshot.sequence)
        var current = snapshot
        var changes = ChangeSet()
        try current.fold(
            Event(sequence: sequence, timeMicroseconds: time, body: body), changes: &changes)
        return current
    }

    /// Hears of every durable state, in order.
    func noteDurable(_ snapshot: Snapshot) { file?.checkpointIfDue(snapshot) }

    /// Syncs what waits and lets the directory go. Blocks until it is done.
    func close() { file?.close() }
}
