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
        /// The server ends the stream because the client was too slow; it can be resumed.
        case interrupted
        case completed
        case tooLarge
    }

    /// The event after which the stream resumes.
    private(set) var lastEventID: String?
    /// How often the server has ended the stream for slowness since it last sent anything.
    private(set) var endingCount = 0
    private var hasBegun = false
    /// A resumption was requested, and the server has not said yet whether it resumes.
    private var awaitsRecovery = false

    var canResume: Bool { lastEventID != nil }

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
        if notes.recovered == nil, let cursor = Self.slowConsumer(response) {
            lastEventID = cursor
            endingCount += 1
            return .interrupted
        }
        if notes.recovered == nil { endingCount = 0 }
        let resumes = awaitsRecovery
        awaitsRecovery = false
        // Nothing was missed, so there is nothing to report.
        return resumes && notes.recovered == true ? .nothing : .deliver(response)
    }

    /// The cursor in an error that asks the client to resume the stream.
    private static func slowConsumer(_ response: [UInt8]) -> String? {
        guard response.starts(with: #"{"errors""#.utf8),
            let first = (try? JSONValue(parsing: response))?["errors"]?.array?.first?["extensions"],
            first["code"]?.string == "SLOW_CONSUMER"
        else { return nil }
        return first["relay"]?["cursor"]?.string
    }
}
