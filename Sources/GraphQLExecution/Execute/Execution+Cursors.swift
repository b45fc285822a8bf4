import RelayJSON
@_spi(Rooms) import RelayRecords

// Cursors of connections: plain ones, or sealed ones if the execution has a seal, and never both.

extension Execution {
    /// What the cursors of a list name it by.
    func listMark(_ source: LinkSource, of object: ObjectValue) -> ListMark {
        guard let cursorSealer else { return .none }
        switch source {
        case .records(let type):
            return cursorSealer.mark(ofRecords: type, snapshot.symbols)
        case .field(let key):
            guard case .record(let owner) = object else { return .none }
            return cursorSealer.mark(of: key, of: owner, snapshot.symbols)
        }
    }

    /// The edge in a mutation's payload, with the cursor that it has in its list.
    func edge(_ edge: PayloadEdge) -> ConnectionEdge {
        ConnectionEdge(
            record: edge.record, position: edge.position,
            list: listMark(.field(edge.key), of: .record(edge.owner)))
    }

    func readCursor(_ text: String, of list: ListMark) -> ConnectionCursor? {
        guard let cursorSealer else { return ConnectionCursor(text) }
        return cursorSealer.open(text, of: list)
    }

    mutating func writeCursor(_ edge: ConnectionEdge) {
        let cursor = ConnectionCursor(edge.position)
        // Base64url has nothing to escape.
        writer.raw(UInt8(ascii: "\""))
        if let cursorSealer {
            cursorSealer.write(cursor, of: edge.list, to: &writer)
        } else {
            cursor.write(to: &writer)
        }
        writer.raw(UInt8(ascii: "\""))
    }
}
