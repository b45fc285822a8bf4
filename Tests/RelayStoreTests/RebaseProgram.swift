import BoundedTesting
import RelayArtifacts
import RelayJSON

@testable import RelayNormalization
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Something that an updater does: a step of a random program on few records and one connection.
enum RebaseAction: CustomStringConvertible {
    enum Place {
        case start, end, before(String), after(String), beforeCursor(String), afterCursor(String)
    }

    case create(String, type: String)
    case set(String, Int)
    case add(String, Int)
    case copy(String, to: String)
    case link(String, to: String)
    case delete(String)
    case require(String)
    case insert(String, Place)
    case sharedInsert(String, Place)
    case remove(String)
    case move(String, Place)
    /// The edge to a node leads to another.
    case lead(edge: String, to: String)
    case deleteEdge(String)
    /// An edge that is not in the list.
    case makeEdge(String)
    case setEdges([String])
    case dropEdges
    case deleteConnection
    case makeConnection
    /// Writes to a record how many nodes the connection has.
    case count(String)
    case setIfIn(String, String)

    static let connection = DataID("client:u1:__Todos_todos_connection")
    struct Missing: Error {}

    /// The server's edge to a node, or one that the client has made.
    private static func edgeID(_ node: String) -> DataID {
        connection.clientID(storageKey: node)
    }

    func run(_ source: inout any RecordSourceProxy) throws {
        let list = source[Self.connection]
        switch self {
        case .create(let id, let type): _ = source.create(dataID: DataID(id), typeName: type)
        case .set(let id, let number): source[DataID(id)]?["priority"] = number
        case .add(let id, let number):
            guard let record = source[DataID(id)] else { return }
            record["priority"] = (record["priority"] as? Int ?? 0) + number
        case .copy(let id, let other):
            source[DataID(other)]?["priority"] = source[DataID(id)]?["priority"] as? Int ?? -1
        case .link(let id, let other):
            source[DataID(id)]?.setLinkedRecord("author", record: source[DataID(other)])
        case .delete(let id): source.delete(dataID: DataID(id))
        case .require(let id): if source[DataID(id)] == nil { throw Missing() }
        case .insert, .sharedInsert, .remove, .move, .count, .setIfIn:
            if let list { try run(&source, list) }
        case .lead(let edge, let node):
            let listed = list?.getLinkedRecords("edges")?.first { listed in
                listed?.getLinkedRecord("node")?.dataID == DataID(edge)
            }
            ((listed ?? nil) ?? source[Self.edgeID(edge)])?
                .setLinkedRecord("node", record: source[DataID(node)])
        case .deleteEdge(let node): source.delete(dataID: Self.edgeID(node))
        case .makeEdge(let node): _ = list.flatMap { edge(to: node, of: $0, &source) }
        case .setEdges(let nodes):
            guard let list else { return }
            list.setLinkedRecords("edges", records: nodes.map { edge(to: $0, of: list, &source) })
        case .dropEdges: list?["edges"] = nil
        case .deleteConnection: source.delete(dataID: Self.connection)
        case .makeConnection:
            _ = source.create(dataID: Self.connection, typeName: "TodoConnection")
        }
    }

    private func run(_ source: inout any RecordSourceProxy, _ list: any RecordProxy) throws {
        let shared = EdgeConnectionProxy(list, source: source)
        switch self {
        case .insert(let node, let place):
            guard let edge = edge(to: node, of: list, &source) else { return }
            let handler = ConnectionHandler.default
            switch place {
            case .start: handler.insert(connection: list, edge: edge, before: nil)
            case .end: handler.insert(connection: list, edge: edge)
            case .before(let id): handler.insert(edge, into: list, at: .before(nodeID: DataID(id)))
            case .after(let id): handler.insert(edge, into: list, at: .after(nodeID: DataID(id)))
            case .beforeCursor(let id):
                handler.insert(connection: list, edge: edge, before: "c-\(id)")
            case .afterCursor(let id):
                handler.insert(connection: list, edge: edge, after: "c-\(id)")
            }
        case .sharedInsert(let node, let place):
            guard let node = source[DataID(node)] else { return }
            shared.insert(node, edgeType: "TodoEdge", at: place.connectionPlace)
        case .remove(let node): shared.delete(nodeID: DataID(node))
        case .move(let node, let place):
            shared.move(nodeID: DataID(node), to: place.connectionPlace)
        case .count(let id): source[DataID(id)]?["priority"] = shared.nodes.count
        case .setIfIn(let node, let id):
            if shared.nodes.contains(where: { $0.dataID == DataID(node) }) {
                source[DataID(id)]?["priority"] = 1_000
            }
        default: break
        }
    }

    private func edge(
        to node: String, of list: any RecordProxy, _ source: inout any RecordSourceProxy
    ) -> (any RecordProxy)? {
        guard let node = source[DataID(node)] else { return nil }
        return ConnectionHandler.default.createEdge(
            &source, connection: list, node: node, type: "TodoEdge")
    }

    var description: String {
        switch self {
        case .create(let id, let type): "create \(id) \(type)"
        case .set(let id, let number): "\(id) = \(number)"
        case .add(let id, let number): "\(id) += \(number)"
        case .copy(let id, let other): "\(other) = \(id)"
        case .link(let id, let other): "\(id) -> \(other)"
        case .delete(let id): "delete \(id)"
        case .require(let id): "need \(id)"
        case .insert(let node, let place): "insert \(node) \(place)"
        case .sharedInsert(let node, let place): "shared insert \(node) \(place)"
        case .remove(let node): "remove \(node)"
        case .move(let node, let place): "move \(node) \(place)"
        case .lead(let edge, let node): "edge of \(edge) -> \(node)"
        case .deleteEdge(let node): "delete edge of \(node)"
        case .makeEdge(let node): "make edge of \(node)"
        case .setEdges(let nodes): "edges = \(nodes)"
        case .dropEdges: "unset edges"
        case .deleteConnection: "delete connection"
        case .makeConnection: "make connection"
        case .count(let id): "\(id) = number of nodes"
        case .setIfIn(let node, let id): "\(id) = 1000 if \(node) in connection"
        }
    }
}

extension RebaseAction.Place {
    fileprivate var connectionPlace: ConnectionPlace {
        switch self {
        case .start: .start
        case .end: .end
        case .before(let id), .beforeCursor(let id): .before(nodeID: DataID(id))
        case .after(let id), .afterCursor(let id): .after(nodeID: DataID(id))
        }
    }
}

/// What an updater does, at random.
struct RebaseProgram: CustomStringConvertible {
    let actions: [RebaseAction]

    static let ids = ["a", "b", "c", "d", "e"]

    init(_ random: inout SeededGenerator) {
        var actions: [RebaseAction] = []
        for _ in 0...random.below(3) { actions.append(Self.action(&random)) }
        self.actions = actions
    }

    func run(_ source: inout any RecordSourceProxy) throws {
        for action in actions { try action.run(&source) }
    }

    var description: String { actions.map(\.description).joined(separator: "; ") }

    private static func place(_ random: inout SeededGenerator) -> RebaseAction.Place {
        let id = random.pick(ids)
        return switch random.below(8) {
        case 0, 1: .start
        case 2, 3: .end
        case 4: .before(id)
        case 5: .after(id)
        case 6: .beforeCursor(id)
        default: .afterCursor(id)
        }
    }

    private static func action(_ random: inout SeededGenerator) -> RebaseAction {
        let (id, other) = (random.pick(ids), random.pick(ids))
        switch random.below(28) {
        case 0: return .create(id, type: random.below(8) == 0 ? "User" : "Todo")
        case 1: return .create(id, type: "Todo")
        case 2: return .set(id, random.below(10))
        case 3: return .add(id, 1 + random.below(3))
        case 4: return .copy(id, to: other)
        case 5: return .link(id, to: other)
        case 6: return .delete(id)
        case 7: return .require(id)
        case 8, 9, 10, 11, 12: return .insert(id, place(&random))
        case 13, 14, 15: return .sharedInsert(id, place(&random))
        case 16, 17: return .remove(id)
        case 18: return .move(id, place(&random))
        case 19: return .lead(edge: id, to: other)
        case 20: return .deleteEdge(id)
        case 21: return .makeEdge(id)
        case 22: return .setEdges((0..<random.below(4)).map { _ in random.pick(ids) })
        case 23: return random.below(3) == 0 ? .dropEdges : .count(id)
        case 24: return random.below(3) == 0 ? .deleteConnection : .makeConnection
        case 25: return .makeConnection
        case 26: return .count(id)
        default: return .setIfIn(id, other)
        }
    }
}
