import Foundation
import Testing

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ResponsePublisherTests {
    /// A store that applies an older answer after a newer one would show the past.
    @Test func responsesOfAllOperationsComeInTheOrderInWhichTheyCame() async throws {
        let order = DeliveryOrder()
        let received = Noted<UInt8>()
        let channels = (0..<8).map { _ in ResponseChannel(capacity: 100) {} }
        let subscriptions = channels.map { channel in
            ResponsePublisher(in: order) { Responses(channel) {} }
                .sink(receiveCompletion: { _ in }, receiveValue: { received.note($0[0]) })
        }
        let numbers = (0..<200).map { UInt8($0) }
        for number in numbers { _ = channels[Int(number) % channels.count].push([number]) }
        await eventually { received.all.count == numbers.count }
        #expect(received.all == numbers)
        withExtendedLifetime(subscriptions) {}
    }

    @Test func theEndComesWithoutDemandAndBehindWhatWaits() async throws {
        let channel = ResponseChannel(capacity: 100) {}
        let publisher = ResponsePublisher(in: DeliveryOrder()) { Responses(channel) {} }
        let received = Noted<UInt8>()
        let ended = Noted<String>()
        let subscriptions = Noted<Transferred>()
        publisher.subscribe(
            AnySubscriber<[UInt8], any Error>(
                receiveSubscription: { subscriptions.note(Transferred(value: $0)) },
                receiveValue: {
                    received.note($0[0])
                    return .none
                },
                receiveCompletion: { ended.note("\($0)") }))
        _ = channel.push([1])
        channel.finish(nil)
        #expect(received.all.isEmpty && ended.all.isEmpty)
        subscriptions.all[0].value.request(.max(1))
        await eventually { ended.all == ["finished"] }
        #expect(received.all == [1])
    }

    /// An operation may have ended at once, and operators drop an end that comes first.
    @Test func nothingComesBeforeTheSubscription() async throws {
        let order = DeliveryOrder()
        let channel = ResponseChannel(capacity: 100) {}
        channel.finish(nil)
        let told = Noted<String>()
        // On a thread of its own, because it waits.
        Thread.detachNewThread {
            ResponsePublisher(in: order) { Responses(channel) {} }.subscribe(
                AnySubscriber<[UInt8], any Error>(
                    receiveSubscription: { _ in
                        // What is to be delivered by now has been delivered then.
                        let turn = DispatchSemaphore(value: 0)
                        order.perform { turn.signal() }
                        turn.wait()
                        told.note("subscription")
                    },
                    receiveValue: { _ in .none },
                    receiveCompletion: { _ in told.note("end") }))
        }
        await eventually { told.all.count == 2 }
        #expect(told.all == ["subscription", "end"])
    }

    private struct Transferred: @unchecked Sendable {
        // Unchecked: used by this test, on one thread at a time.
        let value: any Subscription
    }

    @Test func aSubscriberGetsNoMoreThanItDemands() async throws {
        let channel = ResponseChannel(capacity: 100) {}
        let received = Noted<UInt8>()
        let ended = Noted<String>()
        let publisher = ResponsePublisher(in: DeliveryOrder()) { Responses(channel) {} }
        let subscription = publisher.prefix(2).sink(
            receiveCompletion: { ended.note("\($0)") }, receiveValue: { received.note($0[0]) })
        for number in 0..<5 as Range<UInt8> { _ = channel.push([number]) }
        await eventually { ended.all.count == 1 }
        #expect(received.all == [0, 1])
        subscription.cancel()
    }
}
