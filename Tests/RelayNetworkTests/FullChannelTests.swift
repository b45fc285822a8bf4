import GraphQLTransportWS
import RelayArtifacts
import RelayJSON
import Testing
import WebSocketTesting

@testable import RelayNetwork

/// A stream is sent again while its reader has as many responses as it may have.
@Suite(.bounded, .timeLimit(.minutes(10))) struct FullChannelTests {
    /// Types and ids of the messages that the server has got.
    private let received = Noted<String>()

    private func serve(
        capacity: Int, answer: @escaping AnsweringServer.Answer,
        _ body: (_ network: WebSocketNetwork) async throws -> Void
    ) async throws {
        let received = received
        let server = AnsweringServer(heard: { received.note("\($0) \($1)") }, answer: answer)
        try await server.serve { port in
            var options = WebSocketNetwork.Options()
            options.responseCapacity = capacity
            try await body(
                WebSocketNetwork(url: "ws://127.0.0.1:\(port)/graphql", options: options))
        }
    }

    private let subscription = RequestParameters(
        name: "S", operationKind: .subscription, text: "subscription S { s }")

    private static func next(_ id: String, _ cursor: String) -> String {
        """
        {"id":"\(id)","type":"next","payload":{"data":{"s":1},"extensions":{"relay":{"cursor":"\(cursor)"}}}}
        """
    }

    /// What says that it begins anew is no response, and takes no response's place.
    @Test func aStreamWithoutRecordsBeginsAnewHoweverLittleMayWait() async throws {
        let answer: AnsweringServer.Answer = { id, payload in
            if payload["extensions"]?["relay"]?["records"] == true {
                return [
                    #"{"id":"\#(id)","type":"error","payload":[{"message":"no","extensions":{"code":"BAD_USER_INPUT"}}]}"#
                ]
            }
            return [#"{"id":"\#(id)","type":"complete"}"#]
        }
        try await serve(capacity: 1, answer: answer) { network in
            let responses = network.responses(
                to: subscription, variables: [:], asksForRecords: true)
            await eventually { received.all.count == 2 }
            let iterator = responses.makeAsyncIterator()
            let mark = try await iterator.next()
            let end = try await iterator.next()
            #expect(mark == [] && end == nil)
            #expect(received.all == ["subscribe 1", "subscribe 2"])
        }
    }

    /// The server must not be told to end what it has not been sent yet.
    @Test func aStreamIsNotStoppedBeforeItIsSent() async throws {
        let answer: AnsweringServer.Answer = { id, payload in
            let cursor = payload["extensions"]?["relay"]?["resume"]?.string
            return [Self.next(id, cursor == nil ? "c1" : "c2")]
        }
        try await serve(capacity: 1, answer: answer) { network in
            let responses = network.responses(
                to: subscription, variables: [:], asksForRecords: true)
            let first = try await responses.makeAsyncIterator().next()
            #expect(first != nil)
            responses.renounceRecords("c1")
            await eventually { received.all.count >= 3 }
            #expect(
                received.all.prefix(3) == ["subscribe 1", "complete 1", "subscribe 2"])
            responses.cancel()
        }
    }
}
