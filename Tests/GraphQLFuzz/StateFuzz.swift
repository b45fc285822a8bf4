import EventStore
@_spi(Rooms) import RelayRecords
import SchemaService

/// Bytes of a log and of a checkpoint. The first byte says which: the kind of an event, or 0 for a state. What can be
/// read can be folded on from, and written so that it reads back as the same.
enum StateFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) -> CInt {
        guard let kind = bytes.first else { return 0 }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
        var snapshot: Snapshot
        if kind == 0 {
            guard
                let read = try? Snapshot(
                    checkpointPayload: rest, indexes: ExampleState.schema.indexes)
            else { return 0 }
            snapshot = read
        } else {
            guard let body = try? EventBody(kind: kind, payload: rest) else { return 0 }
            let payload = body.payload
            let again = payload.withUnsafeBytes { try? EventBody(kind: kind, payload: $0) }
            precondition(again?.payload == payload, "an event does not read back")
            snapshot = ExampleState.snapshot
            guard (try? fold(body, &snapshot)) != nil else { return 0 }
        }
        let state = snapshot.checkpointPayload
        let again = state.withUnsafeBytes {
            try? Snapshot(checkpointPayload: $0, indexes: ExampleState.schema.indexes)
        }
        precondition(again?.checkpointPayload == state, "a state does not read back")
        var draft = Draft(on: snapshot)
        draft.write(
            "i1", type: "Issue",
            fields: [
                (key: "watchers", value: FieldValue.append("p1")),
                (key: "labels", value: FieldValue.splice(start: 1, deleted: .max, ["i2", nil])),
            ])
        let writes = draft.writeSet
        try? fold(.update(LocalUpdate(name: "fuzz", writes: writes)), &snapshot)
        return 0
    }

    private static func fold(_ body: EventBody, _ snapshot: inout Snapshot) throws {
        var changes = ChangeSet()
        try snapshot.fold(
            Event(sequence: snapshot.sequence + 1, timeMicroseconds: .max, body: body),
            changes: &changes)
    }
}
