import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords

/// What the server returns for a connection's field with certain arguments: a record of its own, which other operations
/// may share.
struct PageOfConnection {
    /// Where it belongs in the connection.
    enum Side {
        /// Before others: `before`.
        case start
        /// Neither `after` nor `before`: it is the connection.
        case whole
        /// After others: `after`.
        case end

        var cursorField: String { self == .start ? "startCursor" : "endCursor" }
        var hasMoreField: String { self == .start ? "hasPreviousPage" : "hasNextPage" }
    }

    let record: DraftRecordProxy
    let side: Side
    /// The cursor of the edge that the page comes after or before; nil: it is the whole connection.
    let cursor: String?
    /// The response that is bringing it; nil: it came whole, or cannot be told apart from others.
    private let response: PartedResponse?
    /// Field of the page's record: the response whose edges the connection has. Connections with other keys may use
    /// another's.
    private let placedBy: String

    /// - Parameter connection: the key under which the parent keeps the connection.
    init(
        _ record: DraftRecordProxy, of connection: String, _ args: VariableData,
        _ response: PartedResponse?
    ) {
        self.response = response
        placedBy = Self.placedBy + connection
        self.record = record
        let place = Self.place(args)
        (cursor, side) = (place?.cursor, place?.side ?? .whole)
    }

    /// The edge that a page with these arguments comes after or before; nil: it is the whole connection.
    static func place(_ args: VariableData) -> (side: Side, cursor: String)? {
        if case .string(let cursor) = args["after"] { return (.end, cursor) }
        if case .string(let cursor) = args["before"] { return (.start, cursor) }
        return nil
    }

    // MARK: Its response

    /// Field of the page's record: its pageInfo is from an earlier response than this one. The record outlives many
    /// responses.
    private static let awaitsInfo = "__awaitsPageInfo"
    private static let placedBy = "__placedBy"

    private var responseID: FieldValue? { response.map { .string($0.id.text) } }

    /// Whether the edges that the connection has of this page are from this response.
    var isPlaced: Bool { record.value(placedBy) == responseID }

    /// The connection now has this response's edges.
    func notePlaced() {
        if !isPlaced { write(placedBy, responseID) }
    }

    /// The connection's edges are from another response; this one has brought none that can be used.
    func noteLeftOut() { write(placedBy, .bool(false)) }

    /// Notes whether a pageInfo has arrived, or is still to come.
    func noteInfo(_ part: FieldPart?) {
        switch part {
        case .beginning(let names) where !names.contains("pageInfo"):
            write(Self.awaitsInfo, responseID ?? .bool(true))
        case nil, .beginning: if awaited != nil { write(Self.awaitsInfo, nil) }
        case .members(let names) where names.contains("pageInfo"):
            // Another may have begun meanwhile and be waiting for its own.
            if awaited == responseID ?? .bool(true) { write(Self.awaitsInfo, nil) }
        case .members, .items, .object: break
        }
    }

    private var awaited: FieldValue? { record.value(Self.awaitsInfo) }

    private func write(_ field: String, _ value: FieldValue?) {
        record.source.write(record.dataID, [(field, value ?? .unset)])
    }

    // MARK: What has come

    /// What the earlier parts of the response found out about connections.
    var memory: ConnectionMemory? { response?.memory }

    /// Whether this is about the store's records, as opposed to the response's own.
    var isInStore: Bool { response?.own != nil }

    /// The records as the response has them. In the page's own record, others may have left another state.
    var records: Snapshot { response?.own ?? record.source.draft.snapshot }

    private func value(_ field: String, of record: DataID) -> FieldValue? {
        self.record.source.find(record).flatMap { records.fieldValue(field, of: $0) }
    }

    /// Whether the response in progress, or the last one, has brought a pageInfo.
    var hasInfo: Bool {
        guard case .link = value("pageInfo", of: record.dataID) else { return false }
        return value(Self.awaitsInfo, of: record.dataID) == nil
    }

    func info(_ field: String) -> FieldValue? {
        guard case .link(let id) = value("pageInfo", of: record.dataID) else { return nil }
        return value(field, of: id)
    }

    /// The type of its pageInfo.
    var infoType: String? {
        guard case .link(let id) = value("pageInfo", of: record.dataID),
            let row = record.source.find(id).flatMap({ records.row($0) })
        else { return nil }
        return records.symbols.nameString(row.type)
    }

    /// What its pageInfo has besides the ends of the page.
    var otherInfo: [(key: String, value: FieldValue)] {
        guard case .link(let id) = value("pageInfo", of: record.dataID) else { return [] }
        // The store's own marks are of the page.
        return fields(of: id) { !Self.ends.contains($0) && $0 != Snapshot.invalidatedKey }
    }

    private static let ends = Set(
        [Side.start, .end].flatMap { [$0.cursorField, $0.hasMoreField] })

    /// nil if it has no list.
    var edges: LinkList? {
        record.source.find(record.dataID).flatMap { records.links("edges", of: $0) }
    }

    /// Errors of elements in the list of edges.
    var edgeErrors: JSONValue? {
        if case .json(let errors)? = value(Self.edgeErrors, of: record.dataID) {
            errors
        } else {
            nil
        }
    }

    static let edgeErrors = "edges" + Symbols.elementErrorsSuffix
    private static let ownFields: Set = ["edges", edgeErrors, "pageInfo", awaitsInfo]

    /// All fields except the edges, their errors, and the pageInfo.
    var fields: [(key: String, value: FieldValue)] {
        fields(of: record.dataID) {
            !Self.ownFields.contains($0) && !$0.hasPrefix(Self.placedBy)
        }
    }

    private func fields(
        of id: DataID, where isWanted: (String) -> Bool
    ) -> [(key: String, value: FieldValue)] {
        guard let index = record.source.find(id), let row = records.row(index) else { return [] }
        return row.shape.keys.compactMap { key in
            let name = records.symbols.nameString(key)
            guard isWanted(name), let value = records.fieldValue(name, of: index)
            else { return nil }
            return (name, value)
        }
    }
}

/// The pages of a connection, in order. They are kept as links in a field that no operation selects, so they are in the
/// journal, and a page costs one link.
///
/// Everything that arrives of these pages belongs in the connection. The page at an end says whether there is more.
struct ConnectionPages {
    private static let key = "__pages"

    private let connection: DataID
    private let source: DraftProxy

    init(connection: DataID, _ source: DraftProxy) {
        self.connection = connection
        self.source = source
    }

    private var records: [RecordIndex?] {
        guard let record = source.find(connection) else { return [] }
        return source.draft.snapshot.links(Self.key, of: record)?.records ?? []
    }

    private func place(of page: PageOfConnection) -> Int? {
        guard let record = source.find(page.record.dataID) else { return nil }
        return records.firstIndex(of: record)
    }

    func contains(_ page: PageOfConnection) -> Bool { place(of: page) != nil }

    /// Whether there is no page between this one and an end.
    func isAt(_ side: PageOfConnection.Side, _ page: PageOfConnection) -> Bool {
        let end = side == .start ? records.first : records.last
        return end != nil && end == source.find(page.record.dataID)
    }

    /// Whether it comes before or after others, and is the first or last of all.
    func isAtItsEnd(_ page: PageOfConnection) -> Bool {
        page.side != .whole && isAt(page.side, page)
    }

    /// The page at an end whose pageInfo is still to come, if there is one. The connection ends where that page begins.
    func awaited(at side: PageOfConnection.Side) -> DataID? {
        guard case .link(let page) = source.proxy(connection).value(Self.awaitedKey(side))
        else { return nil }
        return page
    }

    func setAwaited(_ page: PageOfConnection?, at side: PageOfConnection.Side) {
        if awaited(at: side) == page?.record.dataID { return }
        let value = page.map { FieldValue.link($0.record.dataID) } ?? .unset
        source.write(connection, [(Self.awaitedKey(side), value)])
    }

    private static func awaitedKey(_ side: PageOfConnection.Side) -> String {
        side == .start ? "__awaitedAtStart" : "__awaitedAtEnd"
    }

    /// The pages before this one, with their current edges, nearest first.
    func pages(before page: PageOfConnection) -> some Sequence<(id: DataID, edges: [RecordIndex?])>
    {
        let records = records.prefix(place(of: page) ?? 0).compactMap(\.self)
        for record in records { source.look(at: record) }
        let snapshot = source.draft.snapshot
        return records.reversed().lazy.map { record in
            (
                DataID(snapshot.symbols.idString(record)),
                snapshot.links("edges", of: record)?.records ?? []
            )
        }
    }

    // MARK: Errors

    /// Errors of edges, by page. By now, the page's own record may have those of another response, or may have been
    /// collected.
    private static let errorsKey = "__edgeErrors"

    /// The connection now has these edges of a page.
    func noteErrors(of page: PageOfConnection) {
        let symbols = source.draft.snapshot.symbols
        guard symbols.mayHaveElementErrors else { return }
        var former = JSONObject()
        if case .json(.object(let all))? = source.proxy(connection).value(Self.errorsKey) {
            former = all
        }
        var errors = JSONObject()
        let new = page.edgeErrors
        if former.isEmpty, new == nil { return }
        for case let record? in records {
            let id = symbols.idString(record)
            errors[id] = id == page.record.dataID.rawValue ? new : former[id]
        }
        if errors == former { return }
        let all = errors.members.flatMap { $0.value.array ?? [] }
        source.write(
            connection,
            [
                (Self.errorsKey, errors.isEmpty ? .unset : .json(.object(errors))),
                (PageOfConnection.edgeErrors, all.isEmpty ? .unset : .json(.array(all))),
            ])
    }

    // MARK: Changing

    /// Puts a page at its end; the whole connection replaces all pages.
    func add(_ page: PageOfConnection) {
        let (count, new) = (records.count, page.record.dataID)
        if contains(page), page.side != .whole || count == 1 { return }
        if page.side == .whole || count == 0 {
            write(.links([new]))
        } else {
            write(.splice(start: page.side == .start ? 0 : count, deleted: 0, [new]))
        }
    }

    /// - Returns: whether it was there.
    @discardableResult
    func remove(_ page: DataID) -> Bool {
        guard let record = source.find(page), let place = records.firstIndex(of: record)
        else { return false }
        write(.splice(start: place, deleted: 1, []))
        return true
    }

    private func write(_ pages: FieldValue) { source.write(connection, [(Self.key, pages)]) }
}
