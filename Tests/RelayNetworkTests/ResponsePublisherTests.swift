import Foundation
import RelayArtifacts
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

    // MARK: Streams with patches of records

    private static func message(_ count: Int, _ patch: String? = nil) -> [UInt8] {
        let data = patch == nil ? #"{"user":{"id":"U","totalCount":\#(count)}}"# : "null"
        let records = patch.map { #","records":\#($0)"# } ?? ""
        return Array(
            #"{"data":\#(data),"extensions":{"relay":{"cursor":"\#(count)"\#(records)}}}"#.utf8)
    }

    /// A patch that says more than the result.
    private static func patch(_ count: Int) -> [UInt8] {
        message(
            count,
            """
            {"client:root":{"user":{"ref":"U"}},"U":{"__typename":"User","id":"U","totalCount":\(count)}}
            """)
    }

    private static let failure = Array(#"{"errors":[{"message":"gone"}]}"#.utf8)

    private func stream(
        _ responses: [[UInt8]], _ renounced: Noted<String?>
    ) throws -> ResponsePublisher {
        let channel = ResponseChannel(capacity: 100) {}
        for response in responses { _ = channel.push(response) }
        channel.finish(nil)
        let operation = try LiveOperations.request("CountLive").operation
        return ResponsePublisher(
            in: DeliveryOrder(), patched: WholeResults(operation, variables: [:])
        ) {
            Responses(channel, renounceRecords: { renounced.note($0) }) {}
        }
    }

    /// The server has ended the stream before it hears that it is to go on without patches, so nothing comes again.
    @Test func whatCameBeforeTheEndIsDeliveredThoughNoPatchesAreWantedAnyMore() async throws {
        let renounced = Noted<String?>()
        let publisher = try stream(
            [Self.message(1)] + (2...7).map(Self.patch) + [Self.failure], renounced)
        let received = Noted<[UInt8]>()
        let ended = Noted<String>()
        let subscriptions = Noted<Transferred>()
        publisher.subscribe(
            AnySubscriber<[UInt8], any Error>(
                receiveSubscription: { subscriptions.note(Transferred(value: $0)) },
                receiveValue: {
                    received.note($0)
                    return .none
                },
                receiveCompletion: { ended.note("\($0)") }))
        subscriptions.all[0].value.request(.max(5))
        await eventually { received.all.count == 5 }
        #expect(renounced.all == ["4"] && ended.all.isEmpty)
        subscriptions.all[0].value.request(.unlimited)
        await eventually { ended.all == ["finished"] }
        #expect(received.all == (1...7).map { Self.message($0) } + [Self.failure])
    }

    @Test func whatCannotBeMadeWholeBeforeTheEndIsAnError() async throws {
        let renounced = Noted<String?>()
        let wrong = Self.message(2, #"{"X":{"totalCount":2}}"#)
        let received = Noted<[UInt8]>()
        let ended = Noted<String>()
        let subscription = try stream(
            [Self.message(1), wrong, Self.patch(3), Self.failure], renounced
        ).sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion {
                    ended.note("\((error as? TransportError)?.code ?? .stopped)")
                } else {
                    ended.note("finished")
                }
            }, receiveValue: { received.note($0) })
        await eventually { ended.all.count == 1 }
        #expect(received.all == [Self.message(1), Self.failure])
        #expect(ended.all == ["badResponse"] && renounced.all == ["1"])
        subscription.cancel()
    }
}
