import EventStore
import Foundation
import HTTPMessages
import Relay
import RelayJSON
import RelayLink
import RelayServer
import Testing
import WebSocketIO

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// Subscriptions as server-sent events, against a real server.
@Suite(.bounded, .timeLimit(.minutes(10))) struct EventStreamTests {
    private func network(
        _ todos: ServedTodos, _ change: (inout HTTPNetwork.Options) -> Void = { _ in }
    ) throws -> HTTPNetwork {
        var options = HTTPNetwork.Options()
        options.streamRetry = RetryPolicy(
            initialDelay: .milliseconds(2), maximumDelay: .milliseconds(20))
        change(&options)
        return try HTTPNetwork(url: todos.httpURL, options: options)
    }

    private func add(_ text: String, _ network: HTTPNetwork) async throws {
        let answer = try await network.responses(to: .add, variables: ["text": text])
            .first()
        #expect(answer["data"]?["addTodo"]?["todo"]?["text"]?.string == text)
    }

    /// Follows added todos; notes their texts, and "gap".
    private func follow(_ network: HTTPNetwork) -> (
        told: Noted<String>, task: Task<Void, any Error>
    ) {
        let told = Noted<String>()
        let responses = network.responses(to: .added, variables: [:])
        let task = Task {
            for try await response in responses {
                told.note(
                    response.json["data"]?["todoAdded"]?["todo"]?["text"]?.string
                        ?? (response == GapNotice.bytes ? "gap" : "gap \(response.json.text)"))
            }
        }
        return (told, task)
    }

    /// Adds todos until the stream tells of one: it has begun then.
    private func begin(_ told: Noted<String>, _ network: HTTPNetwork) async throws {
        try await eventually {
            try await add("begin", network)
            return !told.all.isEmpty
        }
    }

    @Test func eventsComeAndTheServersEndIsTheEnd() async throws {
        try await ServedTodos.run { todos in
            let network = try network(todos)
            let (told, task) = follow(network)
            try await begin(told, network)
            // Also one that takes many pieces.
            let texts = ["a", String(repeating: "large ", count: 20_000), "b"]
            for text in texts { try await add(text, network) }
            await eventually { told.all.suffix(3) == texts[...] }
            task.cancel()
            let refused = RequestParameters(
                name: "", operationKind: .subscription, text: "subscription { nothing }")
            let responses = network.responses(to: refused, variables: [:])
            #expect(try await responses.first()["errors"]?.array?.count == 1)
        }
    }

    @Test func aPublisherOfEventsEndsAtTheServerWhenItIsCancelled() async throws {
        try await ServedTodos.run { todos in
            let network = try network(todos)
            let values = Noted<Int>()
            let subscription = network.execute(
                request: .count, variables: [:], cacheConfig: CacheConfig()
            ).sink(receiveCompletion: { _ in }, receiveValue: { values.note($0.count) })
            await eventually { values.all.count == 1 }
            subscription.cancel()
            try await eventually { try await todos.subscriptions() == 0 }
        }
    }

    /// A log on disk: a server that comes again knows what it has told.
    @Test func aRestartedServerGoesOnWhereItWas() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-events-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await ServedTodos.run {
            $0.storage = .directory(directory, EventStoreOptions())
        } _: { todos in
            let network = try network(todos)
            let (told, task) = follow(network)
            try await begin(told, network)
            for round in 0..<3 {
                try await add("before \(round)", network)
                await todos.stop()
                try await todos.startAgain()
                // Perhaps before the stream is there again.
                for number in 0..<5 { try await add("\(round):\(number)", network) }
            }
            await eventually { told.all.last == "2:4" }
            let expected = (0..<3).flatMap { round in
                ["before \(round)"] + (0..<5).map { "\(round):\($0)" }
            }
            #expect(told.all.filter { $0 != "begin" } == expected)
            task.cancel()
        }
    }

    @Test func aServerThatHasForgottenSaysSo() async throws {
        try await ServedTodos.run { todos in
            let network = try network(todos)
            let (told, task) = follow(network)
            try await begin(told, network)
            await todos.stop()
            try await todos.startAgain()
            await eventually { told.all.last?.hasPrefix("gap") == true }
            try await add("after", network)
            await eventually { told.all.last == "after" }
            task.cancel()
        }
    }

    @Test func aRefusedTokenIsAskedForAnewOnce() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let asked = Noted<Bool>()
            let network = try network(todos) {
                $0.tokens = TokenProvider { isRefused in
                    asked.note(isRefused)
                    return isRefused ? "good" : "stale"
                }
            }
            #expect(try await network.responses(to: .count, variables: [:]).first()["data"] != nil)
            #expect(asked.all == [false, true])
            let refused = try self.network(todos) { $0.tokens = .constant("bad") }
            let error = await #expect(throws: TransportError.self) {
                try await refused.responses(to: .count, variables: [:]).first()
            }
            #expect(error?.code == .unauthenticated)
        }
    }

    @Test func aProviderThatHasNoTokenYetIsAskedAgain() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let offline = Offline(times: 3)
            let network = try network(todos) { $0.tokens = offline.tokens }
            #expect(try await network.responses(to: .count, variables: [:]).first()["data"] != nil)
            #expect(offline.count == 4)
        }
    }

    @Test func aReaderThatStopsPausesTheStreamAndLosesNothing() async throws {
        try await ServedTodos.run { todos in
            let network = try network(todos) { $0.responseCapacity = 4 }
            let responses = network.responses(to: .added, variables: [:])
            let iterator = responses.makeAsyncIterator()
            // The subscription is there when the server says so.
            try await eventually { try await todos.subscriptions() == 1 }
            for number in 0..<20 { try await add("\(number)", network) }
            try await eventually { try await todos.subscriptions() == 0 }
            var texts: [String] = []
            while texts.count < 20, let response = try await iterator.next() {
                texts.append(
                    response.json["data"]?["todoAdded"]?["todo"]?["text"]?.string
                        ?? response.json.text)
            }
            #expect(texts == (0..<20).map { "\($0)" })
        }
    }

    /// Several pieces may come with one read, and the connection is given up behind it only.
    @Test func whatComesBehindTheBoundIsLeftForTheNextConnection() {
        let taken = Noted<String>()
        let answer = EventStreamAnswer(onBegin: {}) { item in
            guard case .event(let event) = item else { return .goOn }
            taken.note(event.id ?? "")
            return taken.all.count == 2 ? .interrupt : .goOn
        }
        let headers: HTTPHeaders = ["content-type": "text/event-stream"]
        answer.began(HTTPResponse(status: 200, headers: headers))
        for ids in [1...3, 4...6] {
            let piece = ids.map { "id: \($0)\ndata: x\n\n" }.joined()
            Array(piece.utf8).withUnsafeBytes { answer.received($0) }
        }
        #expect(taken.all == ["1", "2"])
    }

    // MARK: The format

    private func items(_ text: String, piece size: Int) -> [ServerSentEvents.Item] {
        var events = ServerSentEvents()
        var items: [ServerSentEvents.Item] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            items += events.receive(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return items
    }

    private func event(_ name: String, _ data: String, _ id: String?) -> ServerSentEvents.Item {
        .event(ServerSentEvent(name: name, data: Array(data.utf8), id: id))
    }

    @Test(arguments: [1, 2, 7, 1_000])
    func eventsAreReadInPiecesOfAnySize(_ size: Int) {
        let text = """
            : a comment\nid: 1\nevent: next\ndata: {"a":1}\n\n\
            data:one\r\ndata: two\r\n\r\nid\n: so far\nid: 2\n\n\
            event: nothing\n\nretry: 5\nunknown: x\ndata\n\nid: 3\rdata: x\r\revent: complete\ndata:\n\n
            """
        #expect(
            items(text, piece: size) == [
                event("next", #"{"a":1}"#, "1"), event("message", "one\ntwo", "1"),
                .moved(id: "2"), event("message", "", "2"), event("message", "x", "3"),
                event("complete", "", "3"),
            ])
    }

    @Test func anEventThatIsNotFinishedIsNone() {
        #expect(items("data: half", piece: 3).isEmpty)
        #expect(items("data: half\n", piece: 3).isEmpty)
    }

    // MARK: From connection to connection

    private static let overloaded =
        #"{"errors":[{"message":"","extensions":{"code":"OVERLOADED"}}]}"#

    /// It has not begun, and somebody asks for it now.
    @Test func aSubscriptionThatTheServerIsTooBusyToBeginIsRefused() {
        var subscription = EventSubscription(RetryPolicy())
        _ = subscription.connected()
        #expect(
            subscription.receive(event("next", Self.overloaded, nil))
                == .deliver(Array(Self.overloaded.utf8)))
    }

    @Test func aSubscriptionIsResumedAsOftenAsAttemptsAreAllowed() {
        var subscription = EventSubscription(RetryPolicy(maximumAttempts: 3))
        _ = subscription.connected()
        _ = subscription.receive(event("next", #"{"data":1}"#, "c1"))
        for count in 1...2 {
            #expect(subscription.receive(event("next", Self.overloaded, nil)) == .interrupted)
            #expect(subscription.failureCount == count)
            _ = subscription.connected()
            // It only says that the place to resume from is good.
            let resumed = #"{"data":null,"extensions":{"relay":{"recovered":true}}}"#
            #expect(subscription.receive(event("next", resumed, "c1")) == .nothing)
        }
        #expect(
            subscription.receive(event("next", Self.overloaded, nil))
                == .deliver(Array(Self.overloaded.utf8)))
    }

    /// The code is that of a field's error, and the server need not write data first.
    @Test(arguments: ["OVERLOADED", "SLOW_CONSUMER"])
    func aResultThatHasErrorsBeforeItsDataIsDelivered(_ code: String) {
        var subscription = EventSubscription(RetryPolicy())
        _ = subscription.connected()
        _ = subscription.receive(event("next", #"{"data":1}"#, "c1"))
        let result =
            #"{"errors":[{"message":"","extensions":{"code":"\#(code)","relay":{"cursor":"c0"}}}],"data":{"a":null}}"#
        #expect(
            subscription.receive(event("next", result, "c2")) == .deliver(Array(result.utf8)))
        #expect(subscription.lastEventID == "c2")
    }

    @Test func aSubscriptionKnowsWhereToGoOn() {
        var subscription = EventSubscription(RetryPolicy())
        #expect(subscription.connected() == nil && !subscription.canResume)
        // Nothing to go on by: a gap.
        #expect(subscription.connected() == GapNotice.bytes)
        #expect(
            subscription.receive(event("next", #"{"data":1}"#, "c1"))
                == .deliver(Array(#"{"data":1}"#.utf8)))
        #expect(subscription.receive(.moved(id: "c2")) == .nothing)
        #expect(subscription.lastEventID == "c2")
        #expect(subscription.connected() == nil)
        let resumed = #"{"data":null,"extensions":{"relay":{"recovered":true}}}"#
        #expect(subscription.receive(event("next", resumed, "c2")) == .nothing)
        #expect(subscription.connected() == nil)
        let gap = #"{"data":null,"extensions":{"relay":{"recovered":false}}}"#
        #expect(subscription.receive(event("next", gap, "c9")) == .deliver(Array(gap.utf8)))
        let slow =
            #"{"errors":[{"message":"","extensions":{"code":"SLOW_CONSUMER","relay":{"cursor":"c3"}}}]}"#
        #expect(subscription.receive(event("next", slow, nil)) == .interrupted)
        #expect(subscription.lastEventID == "c3" && subscription.failureCount == 0)
        #expect(subscription.receive(event("next", slow, nil)) == .interrupted)
        #expect(subscription.failureCount == 1)
        _ = subscription.receive(event("next", #"{"data":1}"#, "c4"))
        #expect(subscription.failureCount == 0)
        #expect(subscription.receive(event("next", Self.overloaded, nil)) == .interrupted)
        #expect(subscription.lastEventID == "c4" && subscription.failureCount == 1)
        #expect(subscription.receive(event("complete", "", nil)) == .completed)
    }
}
