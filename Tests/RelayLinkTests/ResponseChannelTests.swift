import Synchronization
import Testing

@testable import RelayLink

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ResponseChannelTests {
    @Test func responsesComeInOrderAndThenTheEnd() async throws {
        let channel = ResponseChannel(capacity: 10) {}
        for number in 0..<5 as Range<UInt8> { #expect(!channel.push([number])) }
        channel.finish(nil)
        #expect(!channel.push([9]))
        var taken: [[UInt8]] = []
        while let response = try await channel.next() { taken.append(response) }
        #expect(taken == [[0], [1], [2], [3], [4]])
    }

    @Test func anErrorComesBehindTheResponsesAndOnce() async throws {
        let channel = ResponseChannel(capacity: 10) {}
        _ = channel.push([1])
        channel.finish(.stopped("test"))
        #expect(try await channel.next() == [1])
        await #expect(throws: TransportError.self) { try await channel.next() }
        #expect(try await channel.next() == nil)
    }

    @Test func fullnessIsReportedAndRoomOnceHalfIsRead() async throws {
        let drains = Counter()
        let channel = ResponseChannel(capacity: 4) { drains.add() }
        #expect([1, 2, 3, 4, 5].map { channel.push([$0]) } == [false, false, false, true, true])
        _ = try await channel.next()
        _ = try await channel.next()
        #expect(drains.count == 0)
        _ = try await channel.next()
        #expect(drains.count == 1)
        _ = try await channel.next()
        #expect(drains.count == 1)
    }

    @Test func whoeverWaitsGetsTheResponseAtOnce() async throws {
        let channel = ResponseChannel(capacity: 1) {}
        async let response = channel.next()
        _ = channel.push([7])
        #expect(try await response == [7])
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)
        var count: Int { value.load(ordering: .relaxed) }
        func add() { value.wrappingAdd(1, ordering: .relaxed) }
    }
}
