package import RelayArtifacts

/// The nodes of a connection, in order; the same for the client's connection record and the server's list.
public protocol ConnectionProxy: AnyObject {
    /// The nodes that exist.
    var nodes: [any RecordProxy] { get }
    /// Adds a node. One that is in the connection already stays where it is.
    ///
    /// - Parameters:
    ///   - node: the record.
    ///   - edgeType: the type of the edge, where edges are records.
    ///   - place: where in the connection.
    func insert(_ node: any RecordProxy, edgeType: String, at place: ConnectionPlace)
    /// Takes a node out, however often it is there. The record itself stays.
    func delete(nodeID: DataID)
    /// Puts a node of the connection elsewhere in it; without effect when it is not in there.
    func move(nodeID: DataID, to place: ConnectionPlace)
}

/// Where in a connection a node goes.
public enum ConnectionPlace: Hashable, Sendable {
    /// Before all others.
    case start
    /// Behind all others.
    case end
    /// Before this node; at the start when it is not in the connection.
    case before(nodeID: DataID)
    /// Behind this node; at the end when it is not in the connection.
    case after(nodeID: DataID)
}

extension ConnectionPlace {
    /// The node that the place is told by.
    package var neighbour: DataID? {
        switch self {
        case .start, .end: nil
        case .before(let id), .after(let id): id
        }
    }

    /// Where in a list of node ids the place is.
    package func index(in ids: [DataID?]) -> Int {
        switch self {
        case .start: 0
        case .end: ids.count
        case .before(let id): ids.firstIndex(of: id) ?? 0
        case .after(let id): ids.firstIndex(of: id).map { $0 + 1 } ?? ids.count
        }
    }

    package func isEnd(of ids: [DataID?]) -> Bool { index(in: ids) == ids.count }
}

/// How one end keeps its connections.
package protocol ConnectionStyle: Sendable {
    /// - Parameter key: of `@connection(key:)`.
    /// - Returns: nil for a connection that the record does not have.
    func connection(
        of record: DraftRecordProxy, key: String, filters: (any VariableDataConvertible)?
    ) -> (any ConnectionProxy)?
}
