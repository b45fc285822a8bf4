@_spi(Rooms) import RelayRecords
import Threads

/// What the edges of connections link to, kept across the parts of a response so that each part looks only at what is
/// new.
package final class ConnectionMemory: Sendable {
    private struct Key: Hashable {
        let connection, page: DataID
        /// Whether it is about the response's own records rather than the store's.
        let isOwn: Bool
    }

    private let known = Lock<[Key: KnownEdges]>([:])

    init() {}

    /// How often an edge of a connection was looked at: the cost of the parts so far.
    var lookCount: Int { known.withLock { $0.values.reduce(0) { $0 + $1.lookCount } } }

    func take(_ connection: DataID, _ page: PageOfConnection) -> KnownEdges? {
        known.withLock { $0.removeValue(forKey: key(connection, page)) }
    }

    func keep(_ edges: KnownEdges, _ connection: DataID, _ page: PageOfConnection) {
        known.withLock { $0[key(connection, page)] = edges }
    }

    private func key(_ connection: DataID, _ page: PageOfConnection) -> Key {
        Key(connection: connection, page: page.record.dataID, isOwn: !page.isInStore)
    }
}

/// What the edges of a connection link to. May include some that have left it.
struct KnownEdges {
    var list = LinkList.empty
    private(set) var contents: Set<RecordIndex> = []
    /// Edges that had no node.
    private(set) var withoutNode: Set<RecordIndex> = []
    /// Where the last edge of the page was put.
    var lastPlace: Int?
    var lookCount = 0

    mutating func insert(_ edge: RecordIndex, content: RecordIndex) {
        contents.insert(content)
        if content == edge { withoutNode.insert(edge) } else { withoutNode.remove(edge) }
    }

    /// An edge without a node has left.
    mutating func forget(_ edge: RecordIndex) { withoutNode.remove(edge) }
}
