import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Merges what arrives of a page with what a connection's record already has.
///
/// A *page* is what the server returns for the field with certain arguments. Its place is decided when its edges, or
/// the first of them, arrive:
///
/// | arguments of the page | result |
/// |---|---|
/// | neither `after` nor `before` | becomes the whole connection |
/// | `after`: where the connection ends | appended |
/// | `before`: where the connection starts | prepended |
/// | same as the page at that end | replaces that page |
/// | `after` or `before` another place | left out: there would be a gap |
///
/// While the page at an end awaits its `pageInfo`, the connection ends before it. Another page may begin there: it
/// replaces the waiting page, and nothing more of that one is used.
///
/// A page with a place is one of the connection's ``ConnectionPages``. Its later parts go to that place, whatever
/// follows it by then. The parts of any other page are left out, like the page itself; but if its place becomes free
/// again because the first page was refetched, the page is merged with everything that has arrived of it.
///
/// Several responses may bring the same page at once. The connection uses the response whose edges began last: nothing
/// more of the others is used.
///
/// An edge whose node is already in the list is left out. Changes that others make to the connection between the parts
/// are kept.
struct ConnectionMerge {
    let id: DataID
    private let source: DraftProxy
    private let page: PageOfConnection
    private let pages: ConnectionPages

    /// - Parameter server: the record that the server's field links to.
    init(_ source: DraftProxy, server: DraftRecordProxy, _ field: HandleFieldPayload) {
        self.source = source
        id = field.dataID.clientID(storageKey: field.handleKey)
        page = PageOfConnection(server, of: field.handleKey, field.args, field.response)
        pages = ConnectionPages(connection: id, source)
    }

    private var connection: DraftRecordProxy { source.proxy(id) }

    /// - Parameter part: what has arrived of the page; nil: the page itself.
    func run(_ part: FieldPart?) {
        let isNew = source.row(id) == nil
        if isNew { _ = source.create(dataID: id, typeName: page.record.typeName) }
        page.noteInfo(part)
        let isThere = pages.contains(page)
        let isOurs = isThere && page.isPlaced
        switch part {
        case nil: begin(with: nil)
        case .beginning(let names): begin(with: names)
        case .members(let names):
            if names.contains("edges"), !isOurs || pages.isAtItsEnd(page) {
                // All edges at once, as with a page that was not deferred.
                begin(with: names)
            } else if isOurs {
                copyFields(names)
                if names.contains("edges") { edges.add(edges.all) }
                if names.contains("pageInfo") { takeInfo() }
            } else if !isThere, hasPlace {
                copyFields(names)
            }
        case .items(let range, of: "edges"?):
            if isOurs {
                edges.add(range)
            } else if !isThere,
                isNew || page.side != .whole && pages.awaited(at: page.side) == nil
            {
                begin(with: ["edges"], edges: 0..<range.upperBound)
            }
        case .object(in: "edges", index: let index?):
            if isOurs { edges.renew(index) }
        case .object(in: "pageInfo", _):
            if isOurs { takeInfo() }
        case .items, .object: break
        }
        // An error may come with any part: a stream that fails brings nothing else.
        if pages.contains(page), page.isPlaced { pages.noteErrors(of: page) }
    }

    private var edges: PageEdges { PageEdges(of: page, in: connection, pages) }

    // MARK: The beginning of a page

    /// - Parameters:
    ///   - names: the members that have arrived; nil: all that are selected.
    ///   - range: the edges that have arrived.
    private func begin(with names: Set<String>?, edges range: Range<Int>? = nil) {
        let hasPlace = hasPlace
        if hasPlace { copyFields(names) }
        // Where edges that could not be returned would end is not known.
        if names?.contains("edges") ?? true, page.edges == nil, connection.has("edges") { return }
        guard hasPlace, names?.contains("edges") ?? true else {
            // While a page's edges are still to come, the connection keeps what it had. Later parts of the old response
            // are told apart from those of this one if both are known.
            if page.isPlaced, !hasPlace || page.side == .whole { page.noteLeftOut() }
            return
        }
        let brought = range ?? edges.all
        page.notePlaced()
        if page.side == .whole {
            pages.add(page)
            edges.replaceAll(by: brought)
        } else {
            let place = makePlace()
            pages.add(page)
            edges.append(brought, at: place)
        }
        takeInfo()
    }

    /// Takes out what had arrived of the page before, and a waiting page that begins at the same place.
    /// - Returns: where their edges were.
    private func makePlace() -> Int? {
        let formers = Set([pages.awaited(at: page.side), page.record.dataID].compactMap { $0 })
        return formers.filter { pages.remove($0) }.compactMap { edges.takeOut(of: $0) }.min()
    }

    private var hasPlace: Bool {
        guard let cursor = page.cursor, connection.has("edges") else { return true }
        return pages.isAtItsEnd(page) || info(page.side.cursorField) == .string(cursor)
    }

    /// Copies what the server returned for the connection besides its edges and page info.
    private func copyFields(_ names: Set<String>?) {
        let fields = page.fields.filter { names?.contains($0.key) ?? true }
        if !fields.isEmpty { source.write(id, fields) }
    }

    // MARK: Page info

    private func info(_ field: String) -> FieldValue? {
        guard case .link(let id) = connection.value("pageInfo") else { return nil }
        return source.proxy(id).value(field)
    }

    /// Takes the page's info for the ends of the connection that the page is at: both, if it is the only one. Until the
    /// info arrives, the connection ends where the page begins; the whole connection has no end, because the old one
    /// may be after edges that are gone.
    private func takeInfo() {
        if page.edges == nil, ConnectionEdges(connection)?.links != nil { return }
        let infoID = id.clientID(storageKey: "pageInfo")
        let isNew = source.row(infoID) == nil
        if isNew { _ = source.create(dataID: infoID, typeName: page.infoType ?? "PageInfo") }
        let isOnly = pages.isAt(.start, page) && pages.isAt(.end, page)
        // Like the connection's own fields, the others are those of the page that came last.
        var fields = page.hasInfo ? page.otherInfo : []
        for side in [PageOfConnection.Side.end, .start] {
            let (flag, cursor) = (side.hasMoreField, side.cursorField)
            if isNew || (page.side == .whole && !page.hasInfo) {
                fields += [(flag, .bool(false)), (cursor, .null)]
            }
            guard pages.isAt(side, page), page.side == .whole || page.side == side || isOnly
            else { continue }
            let awaited = page.side == side && !page.hasInfo ? page : nil
            if page.side == side || page.side == .whole { pages.setAwaited(awaited, at: side) }
            if awaited != nil { fields.append((flag, .bool(true))) }
            if page.hasInfo, let value = page.info(flag), value != .null || page.side == .whole {
                fields.append((flag, value))
            }
            let stands = page.side == side ? page.cursor.map { FieldValue.string($0) } : nil
            var found = page.hasInfo ? page.info(cursor) : nil
            // An empty page has no cursors; the existing ones still find its neighbours. So do they if there was an error.
            switch found {
            case .null, .failed: if page.side != .whole { found = nil }
            default: break
            }
            if let end = found ?? stands { fields.append((cursor, end)) }
        }
        if !fields.isEmpty {
            source.write(infoID, type: page.hasInfo ? page.infoType : nil, fields)
        }
        if connection.value("pageInfo") != .link(infoID) {
            source.write(id, [("pageInfo", .link(infoID))])
        }
    }
}
