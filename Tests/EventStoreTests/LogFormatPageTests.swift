import EventLog
import Foundation
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

/// The examples of docs/log-format.md, byte for byte.
@Suite(.bounded) struct LogFormatPageTests {
    /// The bytes in a code block of the page: hexadecimal pairs up to two spaces or the line's end.
    private func example(_ name: String) throws -> [UInt8] {
        let page = URL(filePath: #filePath).appending(path: "../../../docs/log-format.md")
            .standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "```\(name)\n")).upperBound
        let end = try #require(text.range(of: "```", range: start..<text.endIndex)).lowerBound
        var bytes: [UInt8] = []
        for line in text[start..<end].split(separator: "\n") {
            let digits = line.firstRange(of: "  ").map { line[..<$0.lowerBound] } ?? line
            for pair in digits.split(separator: " ") {
                bytes.append(try #require(UInt8(pair, radix: 16), "\(line)"))
            }
        }
        return bytes
    }

    private var response: NewEvent {
        var writer = WriteSetWriter()
        writer.write(
            "t1", type: "Todo",
            fields: [
                (key: "text", value: FieldValue.string("Hi")), (key: "done", value: .bool(true)),
            ])
        return NewEvent(
            timeMicroseconds: 1_000_000,
            body: .response(
                MutationResponse(mutation: 2, writes: writer.writeSet, result: "t1")))
    }

    @Test func theResponseIsWrittenAndReadAsThePageSays() throws {
        var batch = EventBatch()
        batch.append(response)
        let bytes = try example("response")
        #expect(batch.bytes == bytes)
        let body = try bytes[16...].withUnsafeBytes { payload in
            Result { () throws(MalformedEvent) in try EventBody(kind: bytes[4], payload: payload) }
        }.get()
        #expect(body == response.body)
    }

    @Test func theStateIsWrittenAndReadAsThePageSays() throws {
        let bytes = try example("state")
        let snapshot = try bytes.withUnsafeBytes { bytes in
            Result { () throws(MalformedEvent) in
                try StateDecoder.decode(bytes, indexes: [])
            }
        }.get()
        #expect(snapshot.sequence == 3 && snapshot.schema == "{}" && snapshot.recordCount == 1)
        var encoded: [UInt8] = []
        StateEncoder.encode(snapshot) { encoded += $0 }
        #expect(encoded == bytes)

        // The events that lead there.
        var folded = Snapshot()
        var changes = ChangeSet()
        guard case .response(var answered) = response.body else { return }
        answered.answer = Array("{}".utf8)
        let bodies: [EventBody] = [
            .genesis(schema: "{}", seed: .empty),
            .mutation(
                MutationIntent(field: "add", arguments: [:], mutationID: MutationID("A:1"))),
            .response(answered),
        ]
        for (index, body) in bodies.enumerated() {
            let event = Event(sequence: UInt64(index) + 1, timeMicroseconds: 0, body: body)
            try folded.fold(event, changes: &changes)
        }
        #expect(folded.stateHash == snapshot.stateHash)
    }
}
