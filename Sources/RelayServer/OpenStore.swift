import Cluster
import EventLog
import EventStore
import GraphQLExecution
import GraphQLLanguage
import Logging
@_spi(Rooms) import RelayRecords
import SchemaService
import SharedJournal
import StoreEngine
import Threads

/// A store that is open, with the schema in force.
///
/// It lives as long as the server, so it keeps no state: what the journal led to goes to the service alone.
final class OpenStore: Sendable {
    /// What the journal's events have led to at the start.
    struct Folded: Sendable {
        let snapshot: Snapshot
        /// The newest commits before this start.
        var tail: HistoryTail?
    }

    let journal: any EventJournal
    let storeID: String
    let schemaService: SchemaService
    /// The journal, if it is one in files.
    let file: FileJournal?
    /// This server's place in a cluster; nil if it is alone.
    let member: ClusterMember?
    private let configuration: Server.Configuration
    private let schema: ServiceSchema
    private let logger: Logger

    private init(
        _ configuration: Server.Configuration, _ journal: any EventJournal, storeID: String,
        _ schema: ServiceSchema, symbols: Symbols, _ key: CursorKey,
        member: ClusterMember? = nil, _ logger: Logger
    ) {
        self.configuration = configuration
        self.schema = schema
        self.member = member
        self.logger = logger
        self.journal = journal
        self.storeID = storeID
        file = journal as? FileJournal
        schemaService = SchemaService(
            schema, access: schema.access.sealing(cursorsWith: CursorSeal(key: key.bytes)),
            symbols: symbols)
    }

    /// Opens the journal, folds it, and brings the schema up to date: the first event of a new log holds
    /// schema and seed; a schema that has changed since becomes an event, if the records allow it.
    static func open(
        _ configuration: Server.Configuration, logger: Logger
    ) async throws -> (store: OpenStore, folded: Folded) {
        let schema: ServiceSchema
        do throws(SchemaMistakes) {
            schema = try ServiceSchema(
                configuration.documents, handlers: configuration.handlers, logger: logger)
        } catch {
            throw error.namedByDocument(else: configuration.schemaName)
        }
        switch configuration.storage.place {
        case .memory:
            // A history that no client can have seen before: each start has an epoch of its own.
            let journal = InMemoryJournal(epoch: UInt64(WallClock.microseconds()))
            let snapshot = Snapshot(indexes: schema.indexes)
            let current = try await bringUpToDate(
                snapshot, schema, journal, configuration, logger)
            let store = OpenStore(
                configuration, journal, storeID: "memory", schema, symbols: current.symbols,
                .random(), logger)
            return (store, Folded(snapshot: current))
        case .directory(let directory, let options):
            try CopyMark.check(directory, options.fileSystem)
            let options = configuration.complete(options, of: directory, logger)
            let (opened, key) = try await onThreadOfItsOwn { [indexes = schema.indexes] in
                let opened = try EventStore.open(directory, indexes: indexes, options: options)
                return (opened, CursorKey.kept(in: directory, options.fileSystem))
            }
            if let remark = key.remark { logger.warning("\(remark)") }
            return try await closing(opened, logger) {
                let current = try await bringUpToDate(
                    opened.snapshot, schema, opened.journal, configuration, logger)
                let store = OpenStore(
                    configuration, opened.journal, storeID: opened.journal.storeID, schema,
                    symbols: current.symbols, key, logger)
                return (store, Folded(snapshot: current, tail: opened.tail))
            }
        case .cluster(let place):
            if let remark = place.remark { logger.notice("\(remark)") }
            let options = configuration.complete(
                place.storeOptions, of: place.directory, logger)
            let (member, opened) = try await onThreadOfItsOwn { [indexes = schema.indexes] in
                try place.join(indexes, options, logger) { snapshot in
                    try events(missingIn: snapshot, schema, configuration, logger)
                }
            }
            return try await closing(opened, logger) {
                // What is missing is appended by the server that leads.
                _ = try events(missingIn: opened.snapshot, schema, configuration, logger)
                let store = OpenStore(
                    configuration, opened.journal, storeID: opened.journal.storeID, schema,
                    symbols: opened.snapshot.symbols, CursorKey(member.history.cursorKey),
                    member: member, logger)
                return (store, Folded(snapshot: opened.snapshot, tail: opened.tail))
            }
        }
    }

    /// Goes on with a store that was opened, and closes it if that fails.
    private static func closing<Value>(
        _ opened: EventStore, _ logger: Logger, _ body: () async throws -> Value
    ) async throws -> Value {
        for sentence in opened.report.sentences { logger.warning("\(sentence)") }
        logger.info("\(opened.report.summary)")
        do {
            return try await body()
        } catch {
            try await onThreadOfItsOwn { opened.journal.close() }
            throw error
        }
    }

    private static func bringUpToDate(
        _ snapshot: Snapshot, _ schema: ServiceSchema, _ journal: any EventJournal,
        _ configuration: Server.Configuration, _ logger: Logger
    ) async throws -> Snapshot {
        if configuration.seed != nil, snapshot.sequence > 0 {
            logger.notice("The seed file is ignored: the log has events already.")
        }
        var events = try events(missingIn: snapshot, schema, configuration, logger)
        events = revocations(in: snapshot, logger) + events
        if events.isEmpty { return snapshot }
        _ = try await journal.append(events, expecting: snapshot.sequence)
        var current = snapshot
        var changes = ChangeSet()
        for event in Event.appended(events, after: snapshot.sequence) {
            try current.fold(event, changes: &changes)
        }
        return current
    }

    /// What a log lacks to serve the schema: its first event, or one that says that the schema has changed.
    private static func events(
        missingIn snapshot: Snapshot, _ schema: ServiceSchema,
        _ configuration: Server.Configuration, _ logger: Logger
    ) throws -> [NewEvent] {
        let time = WallClock.microseconds()
        guard snapshot.sequence > 0 else {
            var seed = WriteSet.empty
            if let bytes = configuration.seed {
                seed = try read(bytes, schema, time, configuration.seedName, logger)
            }
            let body = EventBody.genesis(schema: schema.text, seed: seed)
            return [NewEvent(timeMicroseconds: time, body: body)]
        }
        if snapshot.schema == schema.text { return [] }
        let old = try? ServiceSchema(reading: snapshot.schema)
        do throws(IncompatibleSchema) {
            try schema.check(snapshot, writtenUnder: old)
        } catch {
            throw error.named(configuration)
        }
        logger.notice("The schema has changed, and still fits the records.")
        return [NewEvent(timeMicroseconds: time, body: .schema(schema.text))]
    }

    /// What has to be appended before this server leads its cluster.
    func events(missingIn snapshot: Snapshot) throws -> [NewEvent] {
        if snapshot.schema == schema.text { return [] }
        return try Self.events(missingIn: snapshot, schema, configuration, logger)
    }

    private static func read(
        _ seed: [UInt8], _ schema: ServiceSchema, _ time: Int64, _ name: String, _ logger: Logger
    ) throws(SeedErrors) -> WriteSet {
        do throws(SeedErrors) {
            let file = try SeedFile.read(seed, for: schema, timeMicroseconds: time)
            for warning in file.warnings { logger.warning("\(name): \(warning)") }
            return file.writes
        } catch {
            throw error.named(name)
        }
    }

    /// What ends the mutations whose handlers waited when the server stopped: nothing works on them now.
    private static func revocations(in snapshot: Snapshot, _ logger: Logger) -> [NewEvent] {
        guard !snapshot.pending.isEmpty else { return [] }
        let time = WallClock.microseconds()
        let names = snapshot.pending.map(\.intent.field).joined(separator: ", ")
        logger.notice("Mutations that were waiting when the server stopped are revoked: \(names).")
        return snapshot.pending.map {
            let revocation = Revocation(
                mutation: $0.sequence, reason: "The server stopped while its handler waited.")
            return NewEvent(timeMicroseconds: time, body: .revocation(revocation))
        }
    }

    /// What has become durable by now.
    func history() throws(EventStoreError) -> History {
        if let file { return try file.history() }
        return (journal as? InMemoryJournal).map { History($0) } ?? History(InMemoryJournal())
    }

    /// Called with every durable state, in order.
    func noteDurable(_ snapshot: Snapshot) { file?.checkpointIfDue(snapshot) }

    /// Syncs what waits and lets the directory go.
    /// - Parameter snapshot: a durable state that is kept as a checkpoint, so that the next start is short.
    func close(checkpointing snapshot: Snapshot? = nil) async {
        guard let file else { return }
        try? await onThreadOfItsOwn { [logger] in
            guard let snapshot else { return file.close() }
            do {
                try file.close(checkpointing: snapshot)
            } catch {
                logger.noteMissing(error)
            }
        }
    }
}

extension Logger {
    /// A checkpoint could not be written.
    fileprivate func noteMissing(_ error: any Error) {
        self.error(
            "No checkpoint was written. Nothing is lost, but the next start takes longer. \(error)")
    }
}

extension IncompatibleSchema {
    fileprivate func named(_ configuration: Server.Configuration) -> IncompatibleSchema {
        var named = self
        named.schemaName = configuration.documents.map(\.name).joined(separator: ", ")
        switch configuration.storage.place {
        case .memory: break
        case .directory(let directory, _): named.logName = directory
        case .cluster(let place): named.logName = "\(place.journal)"
        }
        return named
    }
}

extension Server.Configuration {
    /// The options of a store in files, with what the server needs.
    fileprivate func complete(
        _ options: EventStoreOptions, of directory: String, _ logger: Logger
    ) -> EventStoreOptions {
        var options = options
        // A commit is two events, nearly always.
        options.tail = HistoryTail.Limits(
            events: 2 * UInt64(limits.recentCommits), bytes: RecentCommits.byteLimit)
        options.onCheckpoint = { [onCheckpoint = options.onCheckpoint] outcome in
            onCheckpoint?(outcome)
            if case .failure(let error) = outcome { logger.noteMissing(error) }
        }
        options.log.onDamage = { [onDamage = options.log.onDamage] damage in
            onDamage?(damage)
            logger.error(
                """
                The log is damaged in \(damage). Nothing was changed; \
                `relay log verify \(directory)` says more.
                """)
        }
        return options
    }
}

extension Event {
    /// The events as they are in the log once they are appended.
    static func appended(_ events: [NewEvent], after sequence: UInt64) -> [Event] {
        zip(1..., events).map { number, event in
            Event(
                sequence: sequence + UInt64(number), timeMicroseconds: event.timeMicroseconds,
                body: event.body)
        }
    }
}
