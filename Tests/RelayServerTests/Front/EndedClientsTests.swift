import Logging
import Testing
import Threads

@testable import RelayServer

@Suite struct EndedClientsTests {
    private let start = ContinuousClock.now

    @Test func theFirstOfASecondAreWrittenAndTheOthersCounted() {
        var limit = LineLimit()
        for _ in 0..<LineLimit.linesPerSecond { #expect(limit.take(at: start) == .write) }
        let middle = start + .milliseconds(400)
        #expect(limit.take(at: middle) == .countLater(.milliseconds(600)))
        for _ in 0..<311 { #expect(limit.take(at: middle) == .leaveOut) }
        // Also those that come before the count is written, however late that is.
        #expect(limit.take(at: start + .seconds(5)) == .leaveOut)
        #expect(limit.takeCount() == 313)
        #expect(limit.take(at: start + .seconds(5)) == .write)
    }

    @Test func eachSecondHasItsOwnLines() {
        var limit = LineLimit()
        for second in 0..<3 {
            for _ in 0..<LineLimit.linesPerSecond {
                #expect(limit.take(at: start + .seconds(second)) == .write)
            }
        }
    }

    @Test(arguments: [
        (LineLimit.linesPerSecond + 2, "And 1 more connection has ended for being too slow."),
        (1_001, "And 990 more connections have ended for being too slow."),
    ])
    func aThousandSlowClientsAreElevenLines(_ count: Int, _ last: String) throws {
        let lines = Lock<[String]>([])
        let postponed = Lock<[@Sendable () -> Void]>([])
        let logger = Logger(label: "test") { _ in
            RecordingHandler { line in lines.withLock { $0.append(line) } }
        }
        let clients = EndedClients(logger) { _, action in postponed.withLock { $0.append(action) } }
        for number in 1..<count { clients.tooSlow("10.0.0.\(number % 250)", "Too slow", at: start) }
        let actions = postponed.withLock { $0 }
        #expect(actions.count == 1)
        for action in actions { action() }
        let written = lines.withLock { $0 }
        #expect(written.count == LineLimit.linesPerSecond + 1)
        #expect(written.first == "A connection has ended: Too slow.")
        #expect(written.last == last)
    }
}

/// Hands each line on.
struct RecordingHandler: LogHandler {
    let record: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    init(_ record: @escaping @Sendable (String) -> Void) { self.record = record }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { record("\(event.message)") }
}
