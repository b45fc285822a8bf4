import RelayJSON
package import RelayStore

/// One page of a connection (Relay's Cursor Connections specification).
///
/// A cursor is the position of a link in its list, which a link keeps for as long as it is there, whatever
/// is added and removed around it; so a page that starts behind a deleted edge starts where that edge was.
package struct ConnectionPage: Sendable {
    package let edges: [ConnectionEdge]
    package let hasNextPage: Bool
    package let hasPreviousPage: Bool
}

/// What page is asked for.
package struct PageArguments: Sendable, Hashable {
    package var first: Int?
    package var after: Int?
    package var last: Int?
    package var before: Int?
}

extension ConnectionPage {
    /// Cuts a page out of a list.
    /// - Parameter isIncluded: whether a linked record is one of the connection's; links to records that
    ///   were deleted are not.
    package init(
        _ list: LinkList, _ arguments: PageArguments,
        isIncluded: (RecordIndex?) -> Bool
    ) {
        let lower = arguments.after.map { $0 + 1 } ?? 0
        let upper = arguments.before ?? list.end  // exclusive
        let takesFromEnd = arguments.last != nil && arguments.first == nil
        let limit = arguments.first ?? arguments.last ?? Int.max

        var edges: [ConnectionEdge] = []
        var hasMore = false
        if takesFromEnd {
            var links = list.linksBack(from: upper - 1)
            while let link = links.next(), link.position >= lower {
                guard isIncluded(link.record) else { continue }
                hasMore = edges.count == limit
                if hasMore { break }
                edges.append(ConnectionEdge(record: link.record, position: link.position))
            }
            edges.reverse()
        } else {
            var links = list.links(from: lower)
            while let link = links.next(), link.position < upper {
                guard isIncluded(link.record) else { continue }
                hasMore = edges.count == limit
                if hasMore { break }
                edges.append(ConnectionEdge(record: link.record, position: link.position))
            }
        }
        var isCutAtStart = takesFromEnd && hasMore
        let isCutAtEnd = !takesFromEnd && hasMore
        if !takesFromEnd, let last = arguments.last, edges.count > last {
            edges.removeFirst(edges.count - last)
            isCutAtStart = true
        }
        self.edges = edges
        // Beyond what was cut off, there is more if the list goes on outside of after and before.
        hasNextPage =
            isCutAtEnd
            || arguments.before.map { Self.has(list, from: $0, isIncluded) } ?? false
        hasPreviousPage =
            isCutAtStart
            || arguments.after.map { Self.has(list, upTo: $0, isIncluded) } ?? false
    }

    private static func has(
        _ list: LinkList, from start: Int, _ isIncluded: (RecordIndex?) -> Bool
    ) -> Bool {
        var links = list.links(from: start)
        while let link = links.next() {
            if isIncluded(link.record) { return true }
        }
        return false
    }

    private static func has(
        _ list: LinkList, upTo end: Int, _ isIncluded: (RecordIndex?) -> Bool
    ) -> Bool {
        var links = list.linksBack(from: end)
        while let link = links.next() {
            if isIncluded(link.record) { return true }
        }
        return false
    }
}

/// The opaque text of a position: base64url of `p` and the position in decimal.
enum Cursor {
    static func write(_ position: Int, to writer: inout JSONWriter) {
        var digits = JSONWriter(capacity: 32)
        digits.raw(UInt8(ascii: "p"))
        digits.write(Int64(position))
        digits.withBytes { Base64URL.encode($0, to: &writer) }
    }

    /// Nil when the text is no cursor of ours.
    static func decode(_ text: String) -> Int? {
        guard let bytes = Base64URL.decode(text), bytes.first == UInt8(ascii: "p") else {
            return nil
        }
        let digits = bytes.dropFirst()
        guard digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
