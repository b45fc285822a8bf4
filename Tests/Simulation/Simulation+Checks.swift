import DiskSimulation
import EventLog
import EventStore
import RelayJSON
@_spi(Rooms) import RelayStore

@testable import StoreEngine

// What must be so, whatever has happened.
extension Simulation {
    /// What every start finds, and what is checked at the end.
    func checkOpened(
        _ snapshot: Snapshot, on disk: SimulatedDisk, _ durability: Durability, epoch: UInt64
    ) throws {
        if facts.lostPowerAt != nil, durability != .always {
            facts.told = min(facts.told, snapshot.sequence)
        } else if snapshot.sequence < facts.told {
            throw Violation(
                "event \(facts.told) was told of, and the log ends with \(snapshot.sequence)")
        }
        try checkMutations(EventsOfLog(disk, archive))
    }

    func checkMutations(_ log: EventsOfLog) throws {
        var last: [String: UInt64] = [:]
        var seen: Set<String> = []
        for add in log.mutations.sorted(by: { $0.intent < $1.intent }) {
            guard let id = add.id, let name = add.name else { continue }
            guard seen.insert(name).inserted else {
                throw Violation("mutation \(name) was carried out twice")
            }
            if add.viewer != nil { continue }
            if facts.outOfOrder.contains(name) || log.revoked.contains(id) { continue }
            if let before = last[id.client], before > id.number {
                throw Violation("\(id) was carried out behind \(id.client):\(before)")
            }
            last[id.client] = id.number
        }
        let refused = Set(facts.refusedForGood)
        if let id = seen.intersection(refused).min() {
            throw Violation("mutation \(id) was refused, and was carried out")
        }
        // The intent of one that waits is in the log before its handler refuses it.
        if let trace = log.begun.first(where: {
            $0.field != "renameTodo" && $0.name.map(refused.contains) ?? false
        }) {
            throw Violation("mutation \(trace.name ?? "") was refused, and the log has it")
        }
        for (id, time) in facts.acknowledged.sorted(by: { $0.key < $1.key })
        where !seen.contains(id) {
            guard durability != .always, let lostPowerAt = facts.lostPowerAt else {
                throw Violation("mutation \(id) was acknowledged and is not in the log")
            }
            let milliseconds = (Int64(lostPowerAt) - Int64(time)) / 1_000_000
            if durability == .batch, milliseconds > 100 + 2 * Int64(Scheduler.stepMilliseconds) {
                throw Violation(
                    "mutation \(id) was acknowledged \(milliseconds) ms before the last server ended, and is lost"
                )
            }
            facts.acknowledged[id] = nil
            facts.answers[id] = nil
        }
        try hostile?.check(log)
        facts.lostPowerAt = nil
    }

    /// What a stream was told between two gaps that it was told of, as far as it holds: not what came before a loss of
    /// power that may have taken it back.
    func toldForGood(_ stream: SimulatedClient.Stream) -> ArraySlice<[Told]> {
        if durability == .always || !facts.hasLostPower { return stream.segments[...] }
        return stream.isOver ? [] : stream.segments.suffix(1)
    }

    typealias Told = SimulatedClient.Told

    /// Between two gaps that it was told of, a stream has every event of the log, once, in order. One that is open has
    /// those of the end, whatever it was told before.
    func checkEvents(
        _ stream: SimulatedClient.Stream, _ log: EventsOfLog, _ name: String
    ) throws {
        let segments = toldForGood(stream)
        for (number, segment) in zip(segments.indices, segments) {
            let isOpen = number == stream.segments.count - 1 && !stream.isOver
            var first = segment.first?.cursor.sequence ?? .max
            if isOpen { first = min(first, quietSince + 1) }
            let last = isOpen ? .max : segment.last?.cursor.sequence ?? 0
            let expected = log.mutations.filter {
                $0.field == "addTodo" && $0.sequence >= first && $0.sequence <= last
            }
            let told = segment.map(\.cursor.sequence)
            if told != expected.map(\.sequence) {
                throw Violation(
                    "a stream of \(name) was told of \(told), the log has \(expected.map(\.sequence))"
                )
            }
            for (told, event) in zip(segment, expected)
            where told.data["todoAdded"]?["todo"]?["text"]?.string != event.text {
                throw Violation(
                    "a stream of \(name) was told \(told.data.text) at \(event.sequence)")
            }
        }
    }

    /// A live result is what the query gives at its sequence, no older one follows a newer, and the last one of a stream
    /// that is open is what the query gives at the end.
    func checkLive(
        _ stream: SimulatedClient.Stream, _ history: History, _ name: String
    ) throws {
        let segments = toldForGood(stream)
        for segment in segments {
            let sequences = segment.map(\.cursor.sequence)
            if sequences != sequences.sorted() {
                throw Violation("live results came in the order \(sequences)")
            }
        }
        let firstState = try history.firstState
        for told in segments.joined().suffix(3) where told.cursor.sequence >= firstState {
            let answer = try result(of: stream.query, at: told.cursor.sequence)
            if answer != told.data {
                throw Violation(
                    "a live query of \(name) at \(told.cursor.sequence) \(differs(answer, told))")
            }
        }
        if stream.isOver { return }
        let now = try result(of: stream.query, at: nil)
        let last = segments.last?.last
        if last?.data != now {
            throw Violation("a live query of \(name) in the end \(differs(now, last))")
        }
    }

    /// Says where what is right and what was told begin to differ.
    func differs(_ right: JSONValue?, _ told: Told?) -> String {
        guard let right else { return "is refused" }
        guard let told else { return "was told nothing" }
        let (expected, found) = (right.text.utf8, told.data.text.utf8)
        let start = max(zip(expected, found).prefix { $0 == $1 }.count - 40, 0)
        let part = { (text: String.UTF8View) in
            String(decoding: text.dropFirst(start).prefix(80), as: UTF8.self)
        }
        return "is …\(part(expected))…, and was told at \(told.cursor.sequence) …\(part(found))…"
    }
}
