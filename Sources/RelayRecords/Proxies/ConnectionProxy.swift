package import RelayArtifacts

/// The nodes of a connection, in order; the same for the client's connection record and the server's list.
public protocol ConnectionProxy: AnyObject {
    /// The nodes that exist.
    var nodes: [any RecordProxy] { get }
    /// Adds a node. One that is already in the connection stays where it is.
    ///
    /// - Parameters:
    ///   - node: the record.
    ///   - edgeType: the type of the edge, if edges are records.
    ///   - place: where in the connection.
    func insert(_ node: any RecordProxy, edgeType: String, at place: ConnectionPlace)
    /// Removes a node, however often it occurs. The record itself stays.
    func delete(nodeID: DataID)
    /// Moves a node of the connection; no effect if it is not in the connection.
    func move(nodeID: DataID, to place: ConnectionPlace)
}

/// Where in a connection a node goes.
public enum ConnectionPlace: Hashable, Sendable {
    /// Before all others.
    case start
    /// After all others.
    case end
    /// Before this node; at the start if it is not in the connection.
    case before(nodeID: DataID)
    /// After this node; at the end if it is not in the connection.
    case after(nodeID: DataID)
}

extension ConnectionPlace {
    /// The node that the place is relative to.
    package var neighbour: DataID? {
        switch self {
        case .start, .end: nil
        case .before(let id), .after(let id): id
        }
    }

    /// The index of the place in a list of node ids.
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

/// How server or client keeps its connections.
package protocol ConnectionStyle: Sendable {
    /// - Parameter key: of `@connection(key:)`.
    /// - Returns: nil for a connection that the record does not have.
    func connection(
        of record: DraftRecordProxy, key: String, filters: (any VariableDataConvertible)?
    ) -> (any ConnectionProxy)?
}
