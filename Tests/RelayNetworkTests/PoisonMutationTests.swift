import EventStore
import Foundation
import GraphQLTransportWS
import HTTPMessages
import Relay
import RelayJSON
@_spi(Rooms) import RelayStore
import Synchronization
import Testing
import WebSocketIO

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// A mutation that gets no response, each time that it is sent, from a server that answers others.
@Suite(.bounded, .timeLimit(.minutes(10)))
final class PoisonMutationTests: Sendable {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "relay-poison-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// A server that closes each connection over which a mutation with "poison" comes, and answers others. Over
    /// HTTP it answers with a page in place of the response.
    private final class Server: HTTPServerHandler, WebSocketHandler {
        let received = Noted<String>()
        private let code: UInt16

        private let status: Int

        init(_ code: UInt16, _ status: Int) {
            self.code = code
            self.status = status
        }

        func upgrade(_ request: HTTPRequest) -> UpgradeDecision { .accept(self) }

        func respond(to request: HTTPRequest, with responder: HTTPResponder) {
            let input = (try? JSONValue(parsing: request.body))?["variables"]?["input"]
            let text = input?["text"]?.string
            if let text { received.note(text) }
            if text == "poison" {
                return responder.respond(HTTPResponse(status: status, text: "a page"))
            }
            let body =
                text.map { #"{"data":{"renameTodo":{"todo":{"id":"VG9kbzox","text":"\#($0)"}}}}"# }
                ?? #"{"data":{"user":null}}"#
            responder.respond(
                HTTPResponse(
                    status: 200, headers: ["content-type": "application/json"],
                    body: Array(body.utf8)))
        }

        func opened(_ connection: WebSocketConnection) {}
        func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {}

        func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
            guard let json = try? JSONValue(parsing: message.bytes) else { return }
            func send(_ text: String) {
                connection.send(OutgoingMessage(.text, Array(text.utf8)))
            }
            switch json["type"]?.string {
            case "ping": send(#"{"type":"pong"}"#)
            case "connection_init": send(#"{"type":"connection_ack"}"#)
            case "subscribe":
                let text = json["payload"]?["variables"]?["input"]?["text"]?.string ?? ""
                received.note(text)
                if text == "poison" { return connection.close(code: code, reason: "") }
                let id = json["id"]?.string ?? ""
                send(
                    """
                    {"id":"\(id)","type":"next","payload":{"data":{"renameTodo":{"todo":\
                    {"id":"VG9kbzox","text":"\(text)"}}}}}
                    """)
                send(#"{"id":"\#(id)","type":"complete"}"#)
            default: break
            }
        }
    }

    private func serve(
        closingWith code: UInt16 = 1011, status: Int = 503,
        _ body: (_ server: Server, _ url: String) async throws -> Void
    ) async throws {
        let loop = try IOLoop.start()
        let server = Server(code, status)
        do {
            let http = try await HTTPServer.start(
                HTTPServer.Options(subprotocols: ["graphql-transport-ws"]), on: loop,
                handler: server)
            try await body(server, "ws://127.0.0.1:\(http.port)/graphql")
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    /// The server says that it does not want to read the mutation: that is the end of this one, and no other.
    @Test(arguments: [4400, 1009] as [UInt16])
    func oneThatTheServerDoesNotReadEndsAlone(code: UInt16) async throws {
        try await serve(closingWith: code) { _, url in
            var options = WebSocketNetwork.Options()
            options.retry = RetryPolicy(
                initialDelay: .milliseconds(1), maximumDelay: .milliseconds(5))
            options.maximumMutationsInFlight = 3
            let environment = Environment(
                network: try WebSocketNetwork(url: url, options: options), store: Store())
            let results = Noted<(text: String, end: TransportError.Code?)>()
            let texts = ["one", "poison", "two", "three"]
            let running = try texts.map { text in
                environment.execute(operation: try TodoOperations.rename("VG9kbzox", text))
                    .sink(
                        receiveCompletion: { end in
                            guard case .failure(let error) = end else { return }
                            results.note((text, (error as? TransportError)?.code))
                        },
                        receiveValue: { _ in results.note((text, nil)) })
            }
            await eventually { results.all.count == 4 }
            for text in texts {
                let ends = results.all.filter { $0.text == text }.map(\.end)
                #expect(
                    ends == [text == "poison" ? .closed(.init(rawValue: code)) : nil], "\(text)")
            }
            withExtendedLifetime(running) {}
        }
    }

    private func environment(
        _ url: String, _ journal: FileJournal, limit: Int?
    ) throws -> Environment {
        var options = WebSocketNetwork.Options()
        options.retry = RetryPolicy(
            initialDelay: .milliseconds(1), maximumDelay: .milliseconds(5))
        options.maximumInterruptions = limit
        return Environment(
            network: try WebSocketNetwork(url: url, options: options),
            store: try Store(journal: journal))
    }

    @Test func itIsGivenUpAndItsAttemptsAreCountedAcrossRestarts() async throws {
        try await serve { server, url in
            var journal = try FileJournal(directory: directory)
            var environment = try environment(url, journal, limit: nil)
            var running: [AnyCancellable] = []
            for text in ["poison", "behind"] {
                running.append(
                    environment.execute(
                        operation: try TodoOperations.rename("VG9kbzox", text)
                    ).sink(receiveCompletion: { _ in }, receiveValue: { _ in }))
            }
            await eventually { server.received.all.count >= 3 }
            journal.close()
            for subscription in running { subscription.cancel() }

            // The next life finds the count, and gives the mutation up after a few attempts more.
            journal = try FileJournal(directory: directory)
            let store = try Store(journal: journal)
            let before = try store.pendingMutations.map(\.mutation.intent.interruptionCount)
            #expect(before.count == 2 && before[0] >= 1 && before[1] == 0, "\(before)")
            journal.close()

            journal = try FileJournal(directory: directory)
            environment = try self.environment(url, journal, limit: Int(before[0]) + 2)
            let seen = server.received.all.count
            let ended = Noted<ResumedMutation>()
            try environment.resumeMutations(
                [ResumableMutation(try TodoOperations.request("RenameMutation"))]
            ) { ended.note($0) }
            await eventually { ended.all.count == 2 }
            // The server may have read one of the first life late.
            let resent = server.received.all[seen...]
            #expect(resent.last == "behind" && (3...4).contains(resent.count))
            #expect(resent.dropLast().allSatisfy { $0 == "poison" })
            #expect(ended.all.first?.isGivenUp == true)
            #expect(try ended.all[1].result.get()?.hasData == true)
            #expect(try environment.store.pendingMutations.isEmpty)
            journal.close()
        }
    }

    @Test func tenTimesAreTheDefault() {
        #expect(WebSocketNetwork.Options().maximumInterruptions == 10)
        #expect(HTTPNetwork.Options().maximumInterruptions == 10)
    }

    /// An earlier life of the program begins "poison" and "behind" offline, and ends.
    private func beginOffline() async throws {
        let journal = try FileJournal(directory: directory)
        let offline = try environment("ws://127.0.0.1:1/graphql", journal, limit: nil)
        let running = try ["poison", "behind"].map { text in
            offline.execute(operation: try TodoOperations.rename("VG9kbzox", text))
                .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        }
        try await offline.store.synchronize()
        journal.close()
        for subscription in running { subscription.cancel() }
    }

    /// Over HTTP, with a limit of three interruptions.
    private func network(_ url: String, tokens: TokenProvider? = nil) throws -> HTTPNetwork {
        var options = HTTPNetwork.Options()
        options.tokens = tokens
        options.retry = RetryPolicy(
            initialDelay: .milliseconds(1), maximumDelay: .milliseconds(5))
        options.maximumInterruptions = 3
        return try HTTPNetwork(url: "http" + url.dropFirst(2), options: options)
    }

    /// One that the server alone refuses holds up those behind it for a few rounds, and not for ever.
    @Test(arguments: [(403, true), (404, true), (401, false), (302, false)])
    func oneThatTheServerAloneRefusesIsGivenUp(status: Int, isGivenUp: Bool) async throws {
        try await serve(status: status) { server, url in
            try await beginOffline()
            /// - Returns: how the two ended, how often the first counts as interrupted, and how many are left.
            func live(
                changesOthers: Bool
            ) async throws -> (ends: [ResumedMutation], count: UInt64, left: Int) {
                let journal = try FileJournal(directory: directory)
                defer { journal.close() }
                let network = try network(url)
                let store = try Store(journal: journal)
                let environment = Environment(network: network, store: store)
                let ended = Noted<ResumedMutation>()
                try environment.resumeMutations(
                    [ResumableMutation(try TodoOperations.request("RenameMutation"))]
                ) { ended.note($0) }
                await eventually { ended.all.count == 2 }
                // Queries may be answered for anybody.
                _ = try await network.responses(to: .texts, variables: [:]).first()
                if changesOthers {
                    let answered = Noted<Int>()
                    let others = try (1...3).map { number in
                        environment.execute(
                            operation: try TodoOperations.rename("VG9kbzox", "other \(number)")
                        ).sink(
                            receiveCompletion: { _ in answered.note(number) },
                            receiveValue: { _ in })
                    }
                    await eventually { answered.all.count == others.count }
                }
                try await store.synchronize()
                return (ended.all, try store.poisonCount, try store.pendingMutations.count)
            }
            // It may be that all mutations are refused.
            #expect(try await live(changesOthers: false).count == 0)
            for number in 1...3 as ClosedRange<UInt64> {
                let life = try await live(changesOthers: true)
                #expect(life.ends.allSatisfy { $0.refusedStatus == status }, "\(life.ends)")
                #expect(life.count == (isGivenUp ? number : 0))
            }
            let last = try await live(changesOthers: true)
            #expect(last.ends[0].isGivenUp == isGivenUp)
            #expect(server.received.all.filter { $0 == "behind" }.count == (isGivenUp ? 1 : 0))
            #expect(last.left == (isGivenUp ? 0 : 2))
        }
    }

    /// Somebody has signed in meanwhile: what is answered now says nothing about what was refused before.
    @Test func aRefusalBeforeASignInDoesNotCount() async throws {
        try await serve(status: 403) { server, url in
            try await beginOffline()
            let journal = try FileJournal(directory: directory)
            defer { journal.close() }
            let user = Noted<String>()
            let network = try network(url, tokens: TokenProvider { _ in user.all.last })
            let store = try Store(journal: journal)
            let environment = Environment(network: network, store: store)
            let ended = Noted<ResumedMutation>()
            func resume() throws {
                try environment.resumeMutations(
                    [ResumableMutation(try TodoOperations.request("RenameMutation"))]
                ) { ended.note($0) }
            }
            func change() async throws {
                let answered = Noted<Bool>()
                let other = environment.execute(
                    operation: try TodoOperations.rename("VG9kbzox", "another")
                ).sink(receiveCompletion: { _ in answered.note(true) }, receiveValue: { _ in })
                await eventually { !answered.all.isEmpty }
                withExtendedLifetime(other) {}
            }
            try resume()
            await eventually { ended.all.count == 2 }
            user.note("me")
            try await change()
            try await store.synchronize()
            #expect(try store.poisonCount == 0)
            try resume()
            await eventually { ended.all.count == 4 }
            try await change()
            try await store.synchronize()
            #expect(try store.poisonCount == 1)
        }
    }

    /// During an outage a mutation of an earlier run waits; but not for ever where the server answers others.
    @Test(arguments: [503, 200])
    func oneThatTheServerAloneDoesNotAnswerIsGivenUp(status: Int) async throws {
        try await serve(status: status) { server, url in
            try await beginOffline()
            let journal = try FileJournal(directory: directory)
            let network = try network(url)
            let environment = Environment(network: network, store: try Store(journal: journal))
            let ended = Noted<ResumedMutation>()
            try environment.resumeMutations(
                [ResumableMutation(try TodoOperations.request("RenameMutation"))]
            ) { ended.note($0) }
            // Nothing else is asked for: it might be an outage.
            await eventually { server.received.all.count > 20 }
            #expect(ended.all.isEmpty)
            #expect(try environment.store.poisonCount == 0)
            // Each count has an answer of its own, so that one of them is seen here before it is the last.
            let counts = Noted<UInt64>()
            await eventually {
                _ = try? await network.responses(to: .texts, variables: [:]).first()
                counts.note((try? environment.store.poisonCount) ?? 0)
                return ended.all.count == 2
            }
            #expect(counts.all.contains { $0 > 0 }, "\(counts.all)")
            #expect(server.received.all.dropLast().allSatisfy { $0 == "poison" })
            #expect(server.received.all.last == "behind")
            #expect(ended.all.first?.isGivenUp == true)
            #expect(try ended.all.last?.result.get()?.hasData == true)
            #expect(try environment.store.pendingMutations.isEmpty)
            journal.close()
        }
    }
}

extension ResumedMutation {
    private var errorCode: TransportError.Code? {
        guard case .failure(let error as TransportError) = result else { return nil }
        return error.code
    }

    fileprivate var isGivenUp: Bool { errorCode == .gaveUp }

    /// nil: it was not refused with a status of HTTP.
    fileprivate var refusedStatus: Int? {
        switch errorCode {
        case .refused(let status): status
        case .unauthenticated: 401
        default: nil
        }
    }
}

extension Store {
    /// How often the oldest pending mutation was interrupted, as the journal has it.
    fileprivate var poisonCount: UInt64 {
        get throws { try pendingMutations.first?.mutation.intent.interruptionCount ?? 0 }
    }
}
