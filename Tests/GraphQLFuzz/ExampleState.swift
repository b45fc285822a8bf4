@_spi(Rooms) import RelayRecords
import RelayServer
import SchemaService

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The tracker example with a few records: what is asked, changed and read back.
enum ExampleState {
    static let schema: ServiceSchema = {
        do {
            return try ServiceSchema(reading: schemaText)
        } catch {
            preconditionFailure("the example is no schema: \(error)")
        }
    }()

    /// The genesis event alone.
    static let genesis: EventBody = {
        do {
            let seed = try SeedFile.read(Array(seedText.utf8), for: schema, timeMicroseconds: 0)
            return .genesis(schema: schemaText, seed: seed.writes)
        } catch {
            preconditionFailure("the example's records do not fit: \(error)")
        }
    }()

    /// The state after it.
    static var snapshot: Snapshot {
        var snapshot = Snapshot(indexes: schema.indexes)
        var changes = ChangeSet()
        do {
            try snapshot.fold(
                Event(sequence: 1, timeMicroseconds: 0, body: genesis), changes: &changes)
        } catch {
            preconditionFailure("the example cannot be folded: \(error)")
        }
        return snapshot
    }

    /// docs/examples/tracker.graphql, which script/fuzz names.
    static let schemaText: String = {
        guard let path = getenv("RELAY_FUZZ_SCHEMA"), let file = fopen(path, "r") else {
            preconditionFailure("RELAY_FUZZ_SCHEMA names no file")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }()

    private static let seedText = """
        {"id":"p1","type":"Person","fields":{"login":"ada","name":"Ada","assigned":{"refs":["i2","i1"]}}}
        {"id":"j1","type":"Project","fields":{"key":"relay","title":"Relay","owner":{"ref":"p1"},"issues":{"refs":["i1","i2"]}}}
        {"id":"i1","type":"Issue","fields":{"title":"One","open":true,"priority":"HIGH","author":{"ref":"p1"},"watchers":{"refs":["p1"]}}}
        {"id":"i2","type":"Issue","fields":{"title":"Two","open":false,"priority":"LOW","estimate":2.5,"labels":{"value":["x","y"]}}}
        """
}
