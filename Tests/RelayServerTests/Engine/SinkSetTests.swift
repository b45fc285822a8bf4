import BoundedTesting
import Testing

@testable import StoreEngine

@Suite(.bounded)
struct SinkSetTests {
    private final class Sink: SubscriptionSink {}

    private func ids(_ sinks: [any SubscriptionSink]) -> [ObjectIdentifier] {
        sinks.map { ObjectIdentifier($0) }
    }

    @Test func sinksKeepTheOrderInWhichTheyHaveJoined() {
        var set = SinkSet()
        let sinks = (0..<100).map { _ in Sink() }
        for sink in sinks { set.insert(sink) }
        #expect(ids(set.sinks) == ids(sinks))
    }

    @Test func theLastTakesThePlaceOfOneThatLeaves() {
        var set = SinkSet()
        let sinks = (0..<4).map { _ in Sink() }
        for sink in sinks { set.insert(sink) }
        set.remove(sinks[1])
        #expect(ids(set.sinks) == ids([sinks[0], sinks[3], sinks[2]]))
        set.remove(sinks[2])
        #expect(ids(set.sinks) == ids([sinks[0], sinks[3]]))
    }

    @Test func aSinkIsThereOnceOrNotAtAll() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        var set = SinkSet()
        let sinks = (0..<20).map { _ in Sink() }
        var members: Set<ObjectIdentifier> = []
        for _ in 0..<2_000 {
            let sink = sinks[Int.random(in: 0..<sinks.count, using: &random)]
            if Bool.random(using: &random) {
                set.insert(sink)
                members.insert(ObjectIdentifier(sink))
            } else {
                set.remove(sink)
                members.remove(ObjectIdentifier(sink))
            }
            #expect(set.count == members.count, "seed \(seed)")
            #expect(Set(ids(set.sinks)) == members, "seed \(seed)")
        }
        for sink in sinks { set.remove(sink) }
        #expect(set.isEmpty)
    }
}
