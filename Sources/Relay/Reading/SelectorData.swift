import RelayArtifacts
import RelayJSON
@_spi(Rooms) public import RelayStore

/// The data of a selection set without a type for it: what updaters get.
///
/// Reads the records as they were when it was made.
public struct SelectorData: Sendable, Equatable {
    private let node: DataNode
    private let origin: ReadOrigin

    init(_ node: DataNode, _ origin: ReadOrigin) {
        self.node = node
        self.origin = origin
    }

    /// The record's id.
    public var dataID: DataID { DataID(origin.symbols.idString(node.record)) }
    /// The name of the record's type.
    public var typename: String { node.typename }

    public static func == (left: SelectorData, right: SelectorData) -> Bool {
        left.node == right.node
    }

    /// Whether data of a type can be made from it.
    func canBeRead<Data: ReadableRecord>(as type: Data.Type) -> Bool {
        RecordReader.withReader(node, origin) { (try? Data(&$0)) != nil }
    }

    /// A leaf.
    /// - Throws: a ``ReadError`` if it is unknown, null or of another kind.
    public func get<T: ReadableScalar>(_ type: T.Type, _ key: String) throws -> T {
        guard let leaf = node.leaf(named: key), leaf != .null else {
            throw ReadError(.absent, at: [key])
        }
        guard let value = T(scalar: VariableValue(leaf)) else {
            throw ReadError(.mismatch(expected: "\(type)"), at: [key])
        }
        return value
    }

    /// A leaf; nil if it is unknown, null or of another kind.
    public func get<T: ReadableScalar>(_ type: T?.Type, _ key: String) -> T? {
        guard let leaf = node.leaf(named: key), leaf != .null else { return nil }
        return T(scalar: VariableValue(leaf))
    }

    /// An object; nil if it is unknown or null.
    public func get(_ type: SelectorData?.Type, _ key: String) -> SelectorData? {
        guard case .node(let child)? = node.child(named: key) else { return nil }
        return SelectorData(child, origin)
    }

    /// A list of objects; nil if it is unknown or null.
    public func get(_ type: [SelectorData?]?.Type, _ key: String) -> [SelectorData?]? {
        guard case .list(let list)? = node.child(named: key) else { return nil }
        return list.elements.map { $0.map { SelectorData($0, origin) } }
    }

    /// Whether a field is read as a connection. The same field may be none where a condition leaves its `@connection` out.
    func isConnection(_ key: String) -> Bool { node.isHandled(key) }

    /// The pointer for a spread fragment, by the fragment's name; nil if it is not spread here.
    public func get(fragment name: String) -> FragmentPointer? {
        node.reading.spreads[name].map {
            FragmentPointer(dataID: dataID, owner: origin.owner, arguments: $0)
        }
    }

    /// Whatever is at the end of a path of response names and list indexes: a leaf's value,
    /// ``SelectorData``, a list of it, or nil.
    public func get(path: [Any]) -> Any? {
        guard let key = path.first as? String else { return path.isEmpty ? self : nil }
        var rest = path.dropFirst()
        if let object = get(SelectorData?.self, key) { return object.get(path: Array(rest)) }
        if let list = get([SelectorData?]?.self, key) {
            guard let place = rest.popFirst() else { return list }
            guard let place = place as? Int, list.indices.contains(place) else { return nil }
            return list[place]?.get(path: Array(rest))
        }
        guard rest.isEmpty, let leaf = node.leaf(named: key), leaf != .null else { return nil }
        return leaf.plain
    }
}
