import BoundedTesting
import Digests
import PostgreSQL
import PostgreSQLTesting
import Threads

@testable import EventLog
@testable import SharedJournal

let testStoreID = StoreID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

/// A journal in a schema of its own.
struct TestJournal: Sendable {
    let server: PostgreSQLServer
    let address: JournalAddress

    /// - Parameter schema: nil for a new one.
    init(
        on server: PostgreSQLServer, schema: String = PostgreSQLServer.newSchema(),
        _ history: JournalHistory? = JournalHistory(storeID: testStoreID, epoch: 1)
    ) throws {
        self.server = server
        address = try JournalAddress(parsing: server.url(schema: schema))
        if let history { try connect().create(history) }
    }

    /// The same journal through a proxy.
    func address(through proxy: CuttingProxy) throws -> JournalAddress {
        try JournalAddress(parsing: server.url(schema: address.schema, port: proxy.port))
    }

    func connect() throws -> JournalConnection {
        try JournalConnection(address, abandonment: Abandonment())
    }

    static let candidate = JournalCandidate(
        node: "one", address: "ws://one", lease: .seconds(10))

    /// A writer of the next term.
    func makeWriter(
        _ address: JournalAddress? = nil, timeouts: PostgreSQLTimeouts = PostgreSQLTimeouts()
    ) throws -> JournalWriter {
        let connection = try connect()
        let term = try connection.raiseTerm(
            after: connection.term().term, by: Self.candidate)
        return JournalWriter(
            address ?? self.address, term: term, timeouts: timeouts, abandonment: try Abandonment())
    }

    /// All frames, checked.
    func frames() throws -> [WholeFrame] {
        let connection = try connect()
        let reader = JournalReader(address, of: try connection.completeHistory())
        var frames: [WholeFrame] = []
        while true {
            let more = try reader.next(by: connection)
            if more.isEmpty { return frames }
            frames += more
        }
    }
}

/// Makes frames that follow each other.
struct FrameMaker {
    private(set) var head = LogHead(sequence: 0, epoch: 1, hash: .zero)
    private var made: UInt64 = 0
    let name: String

    init(_ name: String = "") { self.name = name }

    /// Of events that no other frame has.
    mutating func make(events: Int = 1, size: Int = 24) throws -> WholeFrame {
        let builder = FrameBuilder()
        var batch = EventBatch()
        for number in 0..<events {
            made += 1
            let text = Array("\(name) \(made) \(number) ".utf8)
            let payload = (0..<max(1, size)).map { text[$0 % text.count] }
            payload.withUnsafeBytes { bytes in
                batch.append(
                    kind: LogEventKind(rawValue: 1), timeMicroseconds: Int64(made), payload: bytes)
            }
        }
        builder.append(batch)
        builder.close(after: head, durableThrough: head.sequence)
        return try builder.withBytes { bytes in Result { try WholeFrame(Array(bytes)) } }.get()
    }

    mutating func took(_ frame: WholeFrame) { head = frame.head }

    mutating func go(to head: LogHead) { self.head = head }
}

extension JournalWriter {
    func append(_ frame: WholeFrame, after head: LogHead) throws(SharedJournalError) {
        var batch = FrameBatch(after: head)
        batch.append(frame)
        try append(batch)
    }
}

extension JournalConnection {
    /// Blocks until a question has a row.
    func wait(for question: String, _ parameters: [PostgreSQLValue] = []) throws {
        let deadline = ContinuousClock.now + .testDeadline
        while try ask(question, parameters).count == 0 {
            if ContinuousClock.now > deadline { throw NeverSo(question: question) }
        }
    }
}

struct NeverSo: Error {
    let question: String
}

/// The outcome of something on a thread of its own.
final class Outcome<Value: Sendable>: Sendable {
    private let outcome = Monitor<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable () throws -> Value) {
        let outcome = outcome
        _ = BlockingThread {
            let result = Result { try body() }
            outcome.update { $0 = result }
        }
    }

    var isThere: Bool { outcome.withLock { $0 != nil } }

    func get() throws -> Value {
        guard let result = outcome.wait(milliseconds: .testDeadlineMilliseconds, { $0 }) else {
            throw NeverSo(question: "an outcome")
        }
        return try result.get()
    }
}

extension Result where Failure == any Error {
    var journalCode: SharedJournalError.Code? {
        if case .failure(let error as SharedJournalError) = self { error.code } else { nil }
    }
}
