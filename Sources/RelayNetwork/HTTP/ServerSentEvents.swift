/// One event of a `text/event-stream` (WHATWG HTML §9.2).
struct ServerSentEvent: Hashable, Sendable {
    /// `message` where the stream names none.
    var name = "message"
    /// Its lines, joined by line feeds.
    var data: [UInt8] = []
    /// The last id in the stream, from this event or an earlier one.
    var id: String?
}

/// Parses a `text/event-stream` as it arrives, in pieces of any size.
struct ServerSentEvents: Sendable {
    /// Larger events are rejected.
    static let largestEventBytes = 64 << 20

    enum Item: Hashable, Sendable {
        case event(ServerSentEvent)
        /// The stream continues from another id, without an event.
        case moved(id: String)
        /// An event or a line is too large; nothing follows.
        case tooLarge
    }

    private var line: [UInt8] = []
    private var endsWithReturn = false
    private var name: String?
    private var data: [UInt8]?
    private var id: String?
    private var toldID: String?

    /// Parses a piece.
    mutating func receive(_ piece: some Collection<UInt8>) -> [Item] {
        var items: [Item] = []
        for byte in piece {
            switch byte {
            // A line ends with CR, LF, or both.
            case UInt8(ascii: "\n") where endsWithReturn: endsWithReturn = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                endsWithReturn = byte == UInt8(ascii: "\r")
                if let item = endLine() { items.append(item) }
            default:
                endsWithReturn = false
                line.append(byte)
            }
        }
        if line.count + (data?.count ?? 0) > Self.largestEventBytes { items.append(.tooLarge) }
        return items
    }

    private mutating func endLine() -> Item? {
        defer { line.removeAll(keepingCapacity: line.count < 65_536) }
        if line.isEmpty { return endEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if data == nil { data = Array(value) } else { data? += [UInt8(ascii: "\n")] + value }
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        // A comment has nothing before its colon; other fields mean nothing to us.
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> Item? {
        defer {
            name = nil
            data = nil
            toldID = id
        }
        guard let data else { return id == toldID ? nil : id.map { .moved(id: $0) } }
        return .event(ServerSentEvent(name: name ?? "message", data: data, id: id))
    }
}
