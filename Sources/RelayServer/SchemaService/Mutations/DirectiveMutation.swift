import EventStore
import GraphQLExecution
import RelayJSON
import RelayStore

/// A mutation that a directive of the schema describes.
///
/// What is wrong with an input is found before anything is written, so a refused mutation leaves its
/// draft untouched.
protocol DirectiveMutation: MutationHandler {
    var payload: PayloadSource { get }

    /// Does it, and gives the id of the record that was made, changed or deleted.
    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext
    ) throws(ExecutionError) -> DataID
}

extension DirectiveMutation {
    package func run(
        arguments: JSONObject, draft: inout Draft, context: MutationContext
    ) throws(ExecutionError) -> MutationOutcome {
        let input = arguments["input"]?.object ?? [:]
        let result = try write(input, to: &draft, context)
        return MutationOutcome(
            result: result, payload: payload.payload(input, result: result, in: draft.snapshot))
    }

    package func payload(
        for intent: MutationIntent, response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload {
        payload.payload(
            intent.arguments["input"]?.object ?? [:], result: response.result, in: snapshot)
    }
}

/// What a payload's fields are filled from: the same for a mutation that just ran and for one in the log.
struct PayloadSource: Sendable {
    let parent: RecordFinder?
    /// The parent's list in which the record has its edge; nil when there is no edge to show.
    let list: NameIndex?
    /// The record is gone; its id is what is left.
    let isDeletion: Bool

    func payload(
        _ input: JSONObject, result: DataID?, in snapshot: Snapshot
    ) -> MutationPayload {
        var payload = MutationPayload(clientMutationID: input["clientMutationId"])
        if let parent, let value = input[parent.input] {
            payload.parent = parent.find(value, in: snapshot)
        }
        if isDeletion {
            payload.deletedID = result?.rawValue
            return payload
        }
        payload.record = result.flatMap { snapshot.existing($0.rawValue) }
        if let list, let record = payload.record, let parent = payload.parent {
            payload.edge = snapshot.edge(to: record, in: list, of: parent)
        }
        return payload
    }
}

extension Snapshot {
    /// The links in a field of a record; empty when there are none.
    func links(_ key: NameIndex, of record: RecordIndex) -> LinkList {
        guard let row = row(record), let slot = row.slot(of: key), row.tag(slot) == .links else {
            return .empty
        }
        return row.links(slot)
    }

    fileprivate func edge(
        to record: RecordIndex, in key: NameIndex, of parent: RecordIndex
    ) -> ConnectionEdge? {
        let links = links(key, of: parent)
        // Nearly always it has just been added at the end.
        if let last = links.previous(from: links.end - 1), last.record == record {
            return ConnectionEdge(record: record, position: last.position)
        }
        return links.position(of: record).map { ConnectionEdge(record: record, position: $0) }
    }
}

extension MutationContext {
    /// The time as fields with `@now` have it: RFC 3339, UTC, milliseconds.
    var timestamp: FieldValue {
        .string(RFC3339.text(microseconds: timeMicroseconds).dropLast(4) + "Z")
    }
}
