import BoundedTesting
import EventStore
import HTTPMessages
import Logging
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import RelayServer
@testable import WebSocketIO

/// Questions about the history while the log takes its time.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HistoryDeskTests {
    /// A log that lets nobody read until it is opened.
    private final class SlowLog: Sendable {
        private struct State {
            var readers = 0
            var isOpen = false
        }

        private let journal = InMemoryJournal()
        private let state = Monitor(State())

        init() {
            journal.append(
                [NewEvent(timeMicroseconds: 0, body: .genesis(schema: "", seed: .empty))],
                expecting: 0
            ) { _ in }
        }

        var readers: Int { state.withLock { $0.readers } }

        func open() { state.update { $0.isOpen = true } }

        func history() -> History {
            state.update { $0.readers += 1 }
            state.wait { $0.isOpen ? true : nil }
            return History(journal)
        }
    }

    private func request(_ target: String) throws -> HistoryRequest {
        var parser = HTTPRequestParser(maxHeadBytes: 4_096, maxBodyBytes: 0)
        Array("GET \(target) HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8).withUnsafeBytes {
            parser.append($0)
        }
        guard case .request(let head, let body) = parser.next() else {
            throw TestFailure("This is no request: \(target)")
        }
        return try HistoryRequest(
            HTTPRequest(head: head, body: body, peerAddress: "", isSecure: false), now: 0)
    }

    @Test(arguments: ["/log/events", "/log/state"])
    func soManyQuestionsWaitAndNoMore(_ path: String) async throws {
        let log = SlowLog()
        let desk = HistoryDesk(.init(), logger: ServiceSchema.noLogger) { log.history() }
        let threads = path == "/log/events" ? 2 : 1
        let statuses = Lock<[Int]>([])
        func ask() throws {
            _ = desk.ask(try request(path)) { outcome in
                let status = (try? outcome.get()) == nil ? 503 : 200
                statuses.withLock { $0.append(status) }
            }
        }
        for _ in 0..<threads { try ask() }
        try await eventually("the readers") { log.readers == threads ? true : nil }
        for _ in 0..<HistoryDesk.Limits().waiting { try ask() }
        #expect(desk.waitingCount == HistoryDesk.Limits().waiting)
        #expect(statuses.withLock { $0 } == [])
        try ask()
        #expect(statuses.withLock { $0 } == [503])
        #expect(log.readers == threads)
        log.open()
        try await eventually("all answers") {
            statuses.withLock { $0.count } == threads + HistoryDesk.Limits().waiting + 1
                ? true : nil
        }
        #expect(statuses.withLock { $0.count { $0 == 503 } } == 1)
    }

    @Test func aServerThatStopsGivesQuestionsUp() async throws {
        let log = SlowLog()
        let desk = HistoryDesk(.init(), logger: ServiceSchema.noLogger) { log.history() }
        let statuses = Lock<[Int]>([])
        for _ in 0..<5 {
            _ = desk.ask(try request("/log/events")) { outcome in
                if case .failure(let refusal) = outcome {
                    statuses.withLock { $0.append(refusal.status) }
                }
            }
        }
        try await eventually("the readers") { log.readers == 2 ? true : nil }
        desk.stop()
        log.open()
        try await eventually("all answers") { statuses.withLock { $0.count } == 5 ? true : nil }
        #expect(statuses.withLock { $0 } == [503, 503, 503, 503, 503])
    }

    /// A client that has gone looks like one that has ended its direction.
    @Test func whoLeavesGivesTheQuestionUp() async throws {
        let log = SlowLog()
        let desk = HistoryDesk(.init(), logger: ServiceSchema.noLogger) { log.history() }
        let engine = try await EngineUnderTest()
        let loop = try IOLoop.start()
        let authentication = Authentication(tokens: [])
        let front = Front(
            engine.service, on: loop, authentication: authentication,
            hosts: HostPolicy(for: authentication, listeningOn: "127.0.0.1", allowing: []),
            origins: OriginPolicy(), metrics: Metrics(engine.service, journal: nil),
            history: HistoryPages(desk, authentication: authentication, claim: nil),
            limits: SocketLimits(), logger: ServiceSchema.noLogger)
        let server = try await HTTPServer.start(HTTPServer.Options(), on: loop, handler: front)
        let client = try RawClient(port: server.port)
        try client.send("GET /log/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        try await eventually("the reader") { log.readers == 1 ? true : nil }
        client.shutDown()
        try await eventually("the end of the connection") {
            try await server.usageByLoop().allSatisfy { $0.connections == 0 } ? true : nil
        }
        log.open()
        try await eventually("the end of the question") {
            desk.counts == .init(answered: 0, refused: 0, left: 1) ? true : nil
        }
        await loop.stop()
    }
}
