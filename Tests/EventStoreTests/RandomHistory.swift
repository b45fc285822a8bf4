import BoundedTesting
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Makes a history that a server might have written: every kind of event, every kind of value.
struct RandomHistory {
    private(set) var events: [Event] = []
    /// The state after the last event.
    private(set) var snapshot = Snapshot()
    private let hasFingerprints: Bool
    private var random: SeededGenerator
    private var nextNumber: [String: UInt64] = [:]

    /// - Parameter hasFingerprints: as versions note them that tell mutations with one id apart.
    init(seed: UInt64, count: Int, hasFingerprints: Bool = false) throws {
        self.hasFingerprints = hasFingerprints
        random = SeededGenerator(seed: seed)
        let seedWrites = writes(8)
        try add(.genesis(schema: "type Query { a: Int }", seed: seedWrites))
        while events.count < count { try addRandom() }
    }

    private mutating func add(_ body: EventBody) throws {
        let time = Int64(events.count) * 1_000_000 + Int64.random(in: 0..<1_000_000, using: &random)
        let event = Event(
            sequence: UInt64(events.count) + 1, timeMicroseconds: time, body: body)
        var changes = ChangeSet()
        try snapshot.fold(event, changes: &changes)
        events.append(event)
    }

    private mutating func addRandom() throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: try add(.schema("type Query { a: Int } # \(events.count)"))
        case 1: try add(.unknown(kind: 77, payload: [1, 2, 3]))
        case 2, 3: try add(.update(LocalUpdate(name: "commitUpdate", writes: writes(3))))
        case 4, 5: try add(.mutation(intent(optimistic: true)))
        case 6:
            guard let open = snapshot.pending.first else { return }
            try add(.revocation(Revocation(mutation: open.sequence, reason: "timed out")))
        case 7:
            guard let open = snapshot.pending.randomElement(using: &random) else { return }
            try respond(to: open.sequence)
        default:
            try add(.mutation(intent(optimistic: false)))
            try respond(to: snapshot.sequence)
        }
    }

    private mutating func respond(to mutation: UInt64) throws {
        let count = Int.random(in: 0..<4, using: &random)
        try add(
            .response(
                MutationResponse(
                    mutation: mutation, writes: writes(count), result: "r1",
                    answer: Array(#"{"data":{"n":\#(events.count)}}"#.utf8))))
    }

    private mutating func intent(optimistic: Bool) -> MutationIntent {
        let client = ["a", "b:c", "é"].randomElement(using: &random) ?? "a"
        let number = nextNumber[client, default: 1]
        nextNumber[client] = number + 1
        return MutationIntent(
            operationName: Bool.random(using: &random) ? "Add" : nil, field: "addTodo",
            arguments: ["input": ["text": "x"]],
            mutationID: Bool.random(using: &random)
                ? MutationID(client: client, number: number) : nil,
            viewer: "ada", optimistic: optimistic ? writes(1) : nil,
            fingerprint: hasFingerprints
                ? MutationFingerprint(
                    (0..<16).map { UInt8($0) + UInt8(number % 100) },
                    claims: number % 3 == 0 ? [] : Array(repeating: 7, count: 16)) : nil)
    }

    private mutating func writes(_ count: Int) -> WriteSet {
        var writer = WriteSetWriter()
        for _ in 0..<count {
            let id = self.id()
            if Int.random(in: 0..<12, using: &random) == 0 {
                writer.delete(id)
            } else {
                let fields = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                    (key: "k\(Int.random(in: 0..<7, using: &random))", value: value())
                }
                writer.write(id, type: "T\(Int.random(in: 0..<3, using: &random))", fields: fields)
            }
        }
        return writer.writeSet
    }

    private mutating func id() -> DataID { DataID("r\(Int.random(in: 0..<60, using: &random))") }

    private mutating func value() -> FieldValue {
        let one = id()
        let other = id()
        let values: [FieldValue] = [
            .null, .bool(true), .bool(false), .int(.random(in: .min ... .max, using: &random)),
            .int(.random(in: -3...3, using: &random)), .double(0.1), .double(-0.0), .unset,
            .string(String(repeating: "é", count: .random(in: 0..<40, using: &random))),
            .json([1, "x", ["y": nil]]), .failed([["message": "no"]]), .link(one),
            .links([one, nil, other]), .append(one), .append(other), .remove(one), .remove(other),
            .splice(
                start: .random(in: 0..<4, using: &random),
                deleted: .random(in: 0..<3, using: &random), [one]),
        ]
        return values[Int.random(in: values.indices, using: &random)]
    }
}
