/// A view for each element of a collection. In a ``List``, only those are made that can be seen.
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: PrimitiveView {
    let data: Data
    let id: (Data.Element) -> ID
    let content: (Data.Element) -> Content

    /// - Parameters:
    ///   - data: the elements. Elements with the same id are shown once each, and share what they keep.
    ///   - id: what tells them apart.
    ///   - content: the view of one.
    public init(
        _ data: Data, id: KeyPath<Data.Element, ID>,
        @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {
        self.data = data
        self.id = { $0[keyPath: id] }
        self.content = content
    }

    package func makeNode(_ context: ViewContext) -> ForEachNode<Data, ID, Content> {
        ForEachNode(self, context)
    }

    package func update(_ node: ForEachNode<Data, ID, Content>, _ context: ViewContext) {
        node.update(self)
    }
}

extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    /// - Parameters:
    ///   - data: the elements.
    ///   - content: the view of one.
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        self.data = data
        id = \.id
        self.content = content
    }
}

/// Rows that are made when somebody wants to see them.
@MainActor
package protocol LazyRows: ViewNode {
    var rowCount: Int { get }
    /// The node of a row, which is made or brought up to date.
    func row(at index: Int) -> ViewNode
    /// Where the row of a node is now; nil if it is gone.
    func index(of node: ViewNode, near index: Int) -> Int?
    /// Takes out all rows that were made, but for these.
    func keepRows(where isKept: (_ index: Int) -> Bool)
}

package final class ForEachNode<Data: RandomAccessCollection, ID: Hashable, Content: View>:
    ViewNode, LazyRows
{
    private struct Row {
        let node: ViewNode
        var generation: Int
    }

    /// Elements may have the same id: the second of them is another row.
    private struct Key: Hashable {
        let id: ID
        let index: Int?
    }

    private var view: ForEach<Data, ID, Content>
    private var generation = 0
    private var rows: [Key: Row] = [:]
    /// Where a row was when it was asked for last.
    private var places: [ObjectIdentifier: (key: Key, index: Int)] = [:]

    init(_ view: ForEach<Data, ID, Content>, _ context: ViewContext) {
        self.view = view
        super.init(context)
    }

    func update(_ view: ForEach<Data, ID, Content>) {
        self.view = view
        generation += 1
        if !isLazy { makeAll() }
        invalidateLayout()
    }

    private func makeAll() {
        var seen: Set<ID> = []
        var keys: Set<Key> = []
        children = view.data.enumerated().map { index, element in
            let id = view.id(element)
            let key = Key(id: id, index: seen.insert(id).inserted ? nil : index)
            keys.insert(key)
            return row(key, element, index)
        }
        forgetOthers(keys)
    }

    private func forgetOthers(_ keys: Set<Key>) {
        for (key, row) in rows where !keys.contains(key) {
            places[ObjectIdentifier(row.node)] = nil
            row.node.unmount()
            rows[key] = nil
        }
    }

    private func row(_ key: Key, _ element: Data.Element, _ index: Int) -> ViewNode {
        let known = rows[key]
        if let known, known.generation == generation {
            places[ObjectIdentifier(known.node)] = (key, index)
            return known.node
        }
        let content = view.content(element)
        let node = reconciled(known?.node) { old, context in
            var context = context
            context.isLazy = false
            return content._reconcile(old, context)
        }
        if let old = known?.node, old !== node { places[ObjectIdentifier(old)] = nil }
        rows[key] = Row(node: node, generation: generation)
        places[ObjectIdentifier(node)] = (key, index)
        return node
    }

    // MARK: Lazy rows

    package var rowCount: Int { view.data.count }

    private func element(at index: Int) -> Data.Element {
        view.data[view.data.index(view.data.startIndex, offsetBy: index)]
    }

    package func row(at index: Int) -> ViewNode {
        let element = element(at: index)
        let id = view.id(element)
        var key = Key(id: id, index: nil)
        if let known = rows[key], let place = places[ObjectIdentifier(known.node)],
            place.index != index, known.generation == generation,
            place.index < rowCount, view.id(self.element(at: place.index)) == id
        {
            key = Key(id: id, index: index)
        }
        let node = row(key, element, index)
        if !children.contains(where: { $0 === node }) { children.append(node) }
        return node
    }

    package func index(of node: ViewNode, near index: Int) -> Int? {
        guard let place = places[ObjectIdentifier(node)], rowCount > 0 else { return nil }
        if rows[place.key]?.generation == generation { return place.index }
        // Rows seldom move far; where it is not near it counts as gone, which costs the same however many there are.
        let start = min(index, rowCount - 1)
        for distance in 0..<min(rowCount, 1_000) {
            for candidate in [start - distance, start + distance]
            where candidate >= 0 && candidate < rowCount
                && view.id(element(at: candidate)) == place.key.id
            {
                return candidate
            }
        }
        return nil
    }

    package func keepRows(where isKept: (_ index: Int) -> Bool) {
        var kept: [(index: Int, node: ViewNode)] = []
        for (key, row) in rows {
            let place = places[ObjectIdentifier(row.node)]
            if let place, isKept(place.index), row.generation == generation {
                kept.append((place.index, row.node))
            } else {
                places[ObjectIdentifier(row.node)] = nil
                row.node.unmount()
                rows[key] = nil
            }
        }
        children = kept.sorted { $0.index < $1.index }.map(\.node)
    }

    package override var isTransparent: Bool { true }
}
