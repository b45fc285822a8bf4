import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

/// An event that never was, as a file says it: a GraphQL mutation, or records, one a line.
struct InsertedEvent {
    private let path: String
    private let bytes: [UInt8]
    private let ids: InventedIDs

    /// - Parameter ids: shared by all events of one course of things, so that no two records are one.
    init(_ path: String, ids: InventedIDs) throws {
        self.path = path
        self.ids = ids
        bytes = try readFile(path, "event")
    }

    /// What it would have written after an event.
    func writes(after sequence: UInt64, of history: History) throws -> [WriteSet] {
        try writes(
            on: history.snapshot(at: sequence), at: history.event(sequence).timeMicroseconds)
    }

    /// What it would have written in a state.
    func writes(on state: Snapshot, at time: Int64) throws -> [WriteSet] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated().filter { !$0.element.allSatisfy { $0 <= UInt8(ascii: " ") } }
        guard let first = lines.first else { throw CommandFailure("\(path) is empty.") }
        guard Self.isRecord(first.element) else { return try mutation(on: state, at: time) }
        var writer = WriteSetWriter()
        for (index, line) in lines { try write(line, number: index + 1, on: state, to: &writer) }
        return [writer.writeSet]
    }

    /// Whether a line is meant for a record, right or wrong: no GraphQL document begins like that.
    private static func isRecord(_ line: ArraySlice<UInt8>) -> Bool {
        if (try? JSONValue(parsing: line)) != nil { return true }
        let characters = line.filter { $0 > UInt8(ascii: " ") }
        return characters.starts(with: Array("{\"".utf8))
    }

    private func mutation(on state: Snapshot, at time: Int64) throws -> [WriteSet] {
        let request = GraphQLRequest(query: String(decoding: bytes, as: UTF8.self))
        let service = try PastService(state)
        do throws(PastMutationRefusal) {
            return try service.writes(of: request, at: time, ids: ids)
        } catch {
            throw CommandFailure(
                """
                The mutation in \(path) would have been refused after event \(state.sequence). \
                \(error)
                """)
        }
    }

    private func write(
        _ line: ArraySlice<UInt8>, number: Int, on state: Snapshot, to writer: inout WriteSetWriter
    ) throws {
        func failure(_ message: String) -> CommandFailure {
            CommandFailure("Could not read line \(number) of \(path). \(message)")
        }
        var object: JSONObject
        do throws(JSONError) {
            object = try JSONValue(parsing: line).object ?? [:]
        } catch {
            throw failure("\(error)")
        }
        guard let id = object["id"]?.string else {
            throw failure("A record needs an \"id\" that is a string.")
        }
        if object["deleted"] == true { return writer.delete(DataID(id)) }
        if object["type"] == nil, let type = state.existing(id).flatMap(state.type) {
            object["type"] = .string(state.symbols.nameString(type))
        }
        do throws(RecordJSONError) {
            let record = try RecordJSON(line: JSONValue.object(object).bytes)
            writer.write(record.id, type: record.type, fields: record.fields)
        } catch {
            throw failure(error.message)
        }
    }
}
