import RelayJSON
import RelayLink

/// One subscription over server-sent events, from connection to connection. Pure.
///
/// Each event's id is a cursor: a new connection sends the last one (`Last-Event-ID`), and the
/// server resumes after it.
struct EventSubscription: Sendable {
    enum Step: Hashable, Sendable {
        case nothing
        case deliver([UInt8])
        /// The server ends the stream because the client was too slow, or itself has too much to do; it can be resumed.
        case interrupted
        case completed
        case tooLarge
    }

    /// How often a stream is resumed that the server ends because it has too much to do.
    let retry: RetryPolicy
    /// The event after which the stream resumes.
    private(set) var lastEventID: String?
    /// How often the server has ended the stream since it last sent anything.
    private var endingCount = 0
    /// It has ended it because it has too much to do.
    private var isOverloaded = false
    private var hasBegun = false
    /// A resumption was requested, and the server has not said yet whether it resumes.
    private var awaitsRecovery = false

    init(_ retry: RetryPolicy) { self.retry = retry }

    var canResume: Bool { lastEventID != nil }

    /// After how many failures, as it were, the stream is resumed: at once if the client was too slow for the first time.
    var failureCount: Int { isOverloaded ? endingCount : max(0, endingCount - 1) }

    /// The stream starts, or resumes.
    /// - Returns: what to deliver at once: a gap notice if it cannot resume where it was.
    mutating func connected() -> [UInt8]? {
        defer { hasBegun = true }
        awaitsRecovery = hasBegun && canResume
        return hasBegun && !canResume ? GapNotice.bytes : nil
    }

    mutating func receive(_ item: ServerSentEvents.Item) -> Step {
        switch item {
        case .tooLarge: return .tooLarge
        case .moved(let id):
            lastEventID = id
            return .nothing
        case .event(let event):
            lastEventID = event.id ?? lastEventID
            switch event.name {
            case "next": return next(event.data)
            case "complete": return .completed
            default: return .nothing
            }
        }
    }

    private mutating func next(_ response: [UInt8]) -> Step {
        let notes = ResponseNotes(response)
        if notes.recovered == nil, isEnding(response) {
            endingCount += 1
            return .interrupted
        }
        if notes.recovered == nil { endingCount = 0 }
        let resumes = awaitsRecovery
        awaitsRecovery = false
        // Nothing was missed, so there is nothing to report.
        return resumes && notes.recovered == true ? .nothing : .deliver(response)
    }

    /// Whether the response is an error after which the stream can be resumed. One with data is a result: an error is
    /// that of a field, whatever its code.
    private mutating func isEnding(_ response: [UInt8]) -> Bool {
        guard response.starts(with: #"{"errors""#.utf8),
            let response = try? JSONValue(parsing: response), response["data"] == nil,
            let first = response["errors"]?.array?.first?["extensions"]
        else { return false }
        switch first["code"]?.string {
        case "SLOW_CONSUMER":
            guard let cursor = first["relay"]?["cursor"]?.string else { return false }
            lastEventID = cursor
            isOverloaded = false
            return true
        case "OVERLOADED", "BEHIND":
            guard canResume, retry.allowsAnotherAttempt(afterFailures: endingCount + 1) else {
                return false
            }
            isOverloaded = true
            return true
        default: return false
        }
    }
}
