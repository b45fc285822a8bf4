import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Joins what comes of a page with what a connection's record has already.
///
/// A *page* is what the server says of the field with certain arguments. Where it belongs is decided when its edges, or
/// their beginning, come:
///
/// | arguments of the page | it is |
/// |---|---|
/// | neither `after` nor `before` | the whole connection now |
/// | `after`: where the connection ends | put behind |
/// | `before`: where the connection starts | put before |
/// | the same as those of the page at that end | put in its own place |
/// | `after` or `before` another place | left out: there would be a gap |
///
/// Where the page at an end awaits its `pageInfo`, the connection ends before it. So another may begin there: it takes the
/// place of the one that waits, of which nothing more is taken.
///
/// A page that has a place is one of the connection's ``ConnectionPages``. What comes of it later goes to that place,
/// whatever stands behind it by then. What comes of another is left out, like the page; but one whose place is free
/// again, because the first page was fetched anew, is joined with all that has come of it.
///
/// Several responses may bring the same page at once. The connection has it of the one whose edges began last: nothing
/// more of the others is taken.
///
/// An edge whose node is in the list already is left out. What others have changed in the connection between the parts
/// stays.
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

    /// - Parameter part: what has come of the page; nil: the page itself.
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
                // All edges at once, as a page has them that has not been deferred.
                begin(with: names)
            } else if isOurs {
                copyFields(names)
                if names.contains("edges") {
                    edges.add(edges.all)
                    pages.noteErrors(of: page)
                }
                if names.contains("pageInfo") { takeInfo() }
            } else if !isThere, hasPlace {
                copyFields(names)
            }
        case .items(let range, of: "edges"?):
            if isOurs {
                edges.add(range)
                pages.noteErrors(of: page)
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
    }

    private var edges: PageEdges { PageEdges(of: page, in: connection, pages) }

    // MARK: The beginning of a page

    /// - Parameters:
    ///   - names: the members that have come; nil: all that are selected.
    ///   - range: the edges that have come.
    private func begin(with names: Set<String>?, edges range: Range<Int>? = nil) {
        let hasPlace = hasPlace
        if hasPlace { copyFields(names) }
        // Of edges that could not be given, it is not known where they end.
        if names?.contains("edges") ?? true, page.edges == nil, connection.has("edges") { return }
        guard hasPlace, names?.contains("edges") ?? true else {
            // Of a page whose edges are still to come, the connection keeps what it had before. What comes of that is told
            // from what comes of this response, where both are known.
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
        pages.noteErrors(of: page)
        takeInfo()
    }

    /// Takes out what has come of the page before, and a page that waits where this one begins.
    /// - Returns: where their edges stood.
    private func makePlace() -> Int? {
        let formers = Set([pages.awaited(at: page.side), page.record.dataID].compactMap { $0 })
        return formers.filter { pages.remove($0) }.compactMap { edges.takeOut(of: $0) }.min()
    }

    private var hasPlace: Bool {
        guard let cursor = page.cursor, connection.has("edges") else { return true }
        return pages.isAtItsEnd(page) || info(page.side.cursorField) == .string(cursor)
    }

    /// What the server said of the connection besides its edges and its page.
    private func copyFields(_ names: Set<String>?) {
        let fields = page.fields.filter { names?.contains($0.key) ?? true }
        if !fields.isEmpty { source.write(id, fields) }
    }

    // MARK: Page info

    private func info(_ field: String) -> FieldValue? {
        guard case .link(let id) = connection.value("pageInfo") else { return nil }
        return source.proxy(id).value(field)
    }

    /// Takes the page's info for the ends of the connection at which the page is: for both, where it is the only one. Before
    /// it has come, the connection ends where the page stands; the whole connection has no end: the old one may be behind
    /// edges that are gone.
    private func takeInfo() {
        if page.edges == nil, ConnectionEdges(connection)?.links != nil { return }
        let infoID = id.clientID(storageKey: "pageInfo")
        let isNew = source.row(infoID) == nil
        if isNew { _ = source.create(dataID: infoID, typeName: "PageInfo") }
        let isOnly = pages.isAt(.start, page) && pages.isAt(.end, page)
        var fields: [(key: String, value: FieldValue)] = []
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
            // A page that is empty has no cursors; what is beside it is found by those that there were.
            if found == .null, page.side != .whole { found = nil }
            if let end = found ?? stands { fields.append((cursor, end)) }
        }
        if !fields.isEmpty { source.write(infoID, fields) }
        if connection.value("pageInfo") != .link(infoID) {
            source.write(id, [("pageInfo", .link(infoID))])
        }
    }
}
