import RelayJSON
@_spi(Rooms) import RelayRecords

/// One page of a connection (Relay's Cursor Connections specification).
///
/// A cursor names the position of a link, so a page that starts after a deleted edge starts where that edge was.
package struct ConnectionPage: Sendable {
    package let edges: [ConnectionEdge]
    package let hasNextPage: Bool
    package let hasPreviousPage: Bool
}

/// Which page is requested.
package struct PageArguments: Sendable, Hashable {
    /// Not negative.
    package var first: Int?
    package var after: ConnectionCursor?
    /// Not negative.
    package var last: Int?
    package var before: ConnectionCursor?
}

extension ConnectionPage {
    /// Cuts a page out of a list.
    /// - Parameters:
    ///   - mark: what cursors name the list by.
    ///   - isIncluded: whether a linked record belongs to the connection; links to deleted records do not.
    init(
        _ list: LinkList, _ mark: ListMark, _ arguments: PageArguments,
        isIncluded: (RecordIndex?) -> Bool
    ) {
        let takesFromEnd = arguments.last != nil && arguments.first == nil
        let limit = arguments.first ?? arguments.last ?? Int.max
        assert(limit >= 0 && arguments.last ?? 0 >= 0, "a count is checked when it is read")
        var links =
            if takesFromEnd {
                arguments.before.map { list.linksBack(before: $0.position) }
                    ?? list.linksBack(before: list.end)
            } else {
                arguments.after.map { list.links(after: $0.position) } ?? list.links(from: 0)
            }
        var edges: [ConnectionEdge] = []
        var hasMore = false
        while let link = links.next(), arguments.contains(link.position) {
            guard isIncluded(link.record) else { continue }
            hasMore = edges.count == limit
            if hasMore { break }
            edges.append(
                ConnectionEdge(
                    record: link.record, position: link.position, list: mark, isVisible: true))
        }
        if takesFromEnd { edges.reverse() }
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
            || arguments.before.map {
                Self.hasLink(in: list.links(from: $0.position), isIncluded)
            } ?? false
        hasPreviousPage =
            isCutAtStart
            || arguments.after.map {
                Self.hasLink(in: list.linksBack(from: $0.position), isIncluded)
            } ?? false
    }

    private static func hasLink(
        in links: LinkList.Links, _ isIncluded: (RecordIndex?) -> Bool
    ) -> Bool {
        var links = links
        while let link = links.next() {
            if isIncluded(link.record) { return true }
        }
        return false
    }
}

extension PageArguments {
    /// Whether a link lies between `after` and `before`.
    @inline(__always)
    fileprivate func contains(_ position: Int) -> Bool {
        (after.map { position > $0.position } ?? true)
            && (before.map { position < $0.position } ?? true)
    }
}
