import GraphQLTransportWS
import HTTPMessages
import RelayArtifacts
import RelayJSON
import Testing
import WebSocketIO

@testable import RelayNetwork

/// A stream is sent again while its reader has as many responses as it may have.
@Suite(.bounded, .timeLimit(.minutes(10))) struct FullChannelTests {
    /// A server that writes down what it is sent, and answers operations as a test wants.
    private final class Server: HTTPServerHandler, WebSocketHandler {
        /// Types and ids of messages.
        let received = Noted<String>()
        private let answers: @Sendable (_ id: String, _ payload: JSONValue) -> [String]

        init(_ answers: @escaping @Sendable (_ id: String, _ payload: JSONValue) -> [String]) {
            self.answers = answers
        }

        func upgrade(_ request: HTTPRequest) -> UpgradeDecision { .accept(self) }
        func respond(to request: HTTPRequest, with responder: HTTPResponder) {
            responder.respond(HTTPResponse(status: 404, text: "no"))
        }
        func opened(_ connection: WebSocketConnection) {}
        func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {}

        func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
            guard let json = try? JSONValue(parsing: message.bytes),
                let type = json["type"]?.string
            else { return }
            func send(_ text: String) {
                connection.send(OutgoingMessage(.text, Array(text.utf8)))
            }
            if type == "connection_init" { return send(#"{"type":"connection_ack"}"#) }
            guard let id = json["id"]?.string else { return }
            received.note("\(type) \(id)")
            if type == "subscribe" {
                for answer in answers(id, json["payload"] ?? .null) { send(answer) }
            }
        }
    }

    private func serve(
        _ server: Server, _ body: (_ network: WebSocketNetwork) async throws -> Void,
        capacity: Int
    ) async throws {
        let loop = try IOLoop.start()
        do {
            let http = try await HTTPServer.start(
                HTTPServer.Options(subprotocols: ["graphql-transport-ws"]), on: loop,
                handler: server)
            var options = WebSocketNetwork.Options()
            options.responseCapacity = capacity
            try await body(
                WebSocketNetwork(url: "ws://127.0.0.1:\(http.port)/graphql", options: options))
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
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
        let server = Server { id, payload in
            if payload["extensions"]?["relay"]?["records"] == true {
                return [
                    #"{"id":"\#(id)","type":"error","payload":[{"message":"no","extensions":{"code":"BAD_USER_INPUT"}}]}"#
                ]
            }
            return [#"{"id":"\#(id)","type":"complete"}"#]
        }
        try await serve(
            server,
            { network in
                let responses = network.responses(
                    to: subscription, variables: [:], asksForRecords: true)
                await eventually { server.received.all.count == 2 }
                let iterator = responses.makeAsyncIterator()
                let mark = try await iterator.next()
                let end = try await iterator.next()
                #expect(mark == [] && end == nil)
                #expect(server.received.all == ["subscribe 1", "subscribe 2"])
            }, capacity: 1)
    }

    /// The server must not be told to end what it has not been sent yet.
    @Test func aStreamIsNotStoppedBeforeItIsSent() async throws {
        let server = Server { id, payload in
            let cursor = payload["extensions"]?["relay"]?["resume"]?.string
            return [Self.next(id, cursor == nil ? "c1" : "c2")]
        }
        try await serve(
            server,
            { network in
                let responses = network.responses(
                    to: subscription, variables: [:], asksForRecords: true)
                let first = try await responses.makeAsyncIterator().next()
                #expect(first != nil)
                responses.renounceRecords("c1")
                await eventually { server.received.all.count >= 3 }
                #expect(
                    server.received.all.prefix(3) == ["subscribe 1", "complete 1", "subscribe 2"])
                responses.cancel()
            }, capacity: 1)
    }
}
