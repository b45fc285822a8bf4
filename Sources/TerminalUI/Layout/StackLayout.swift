/// How much room a node is offered.
package struct Proposal: Hashable, Sendable {
    /// In columns; nil: as many as it would like.
    package var width: Int?
    /// In rows; nil: as many as it would like.
    package var height: Int?

    package init(width: Int?, height: Int?) {
        self.width = width
        self.height = height
    }

    package init(_ size: Size) { self.init(width: size.width, height: size.height) }

    /// More than any screen has.
    package static let unbounded = 100_000
}

/// Where a node lies in room that is larger than it.
public struct Alignment: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        case start, center, end

        func offset(_ size: Int, in room: Int) -> Int {
            switch self {
            case .start: 0
            case .center: (room - size) / 2
            case .end: room - size
            }
        }
    }

    let horizontal: Place
    let vertical: Place

    /// In the middle.
    public static let center = Alignment(horizontal: .center, vertical: .center)
    /// At the left, halfway down.
    public static let leading = Alignment(horizontal: .start, vertical: .center)
    /// At the right, halfway down.
    public static let trailing = Alignment(horizontal: .end, vertical: .center)
    /// At the top, in the middle.
    public static let top = Alignment(horizontal: .center, vertical: .start)
    /// At the bottom, in the middle.
    public static let bottom = Alignment(horizontal: .center, vertical: .end)
    /// In the corner at the top left.
    public static let topLeading = Alignment(horizontal: .start, vertical: .start)
    /// In the corner at the top right.
    public static let topTrailing = Alignment(horizontal: .end, vertical: .start)
    /// In the corner at the bottom left.
    public static let bottomLeading = Alignment(horizontal: .start, vertical: .end)
    /// In the corner at the bottom right.
    public static let bottomTrailing = Alignment(horizontal: .end, vertical: .end)

    func place(_ size: Size, in room: Rect) -> Rect {
        Rect(
            origin: Position(
                column: room.origin.column + horizontal.offset(size.width, in: room.size.width),
                row: room.origin.row + vertical.offset(size.height, in: room.size.height)),
            size: size)
    }
}

/// One after the other, in a row or in a column.
@MainActor
struct StackLayout: @MainActor Equatable {
    let isHorizontal: Bool
    let alignment: Alignment
    /// Between two of them, in cells.
    let spacing: Int

    static let vertical = StackLayout(isHorizontal: false, alignment: .topLeading, spacing: 0)

    private func along(_ size: Size) -> Int { isHorizontal ? size.width : size.height }
    private func across(_ size: Size) -> Int { isHorizontal ? size.height : size.width }

    private func proposal(_ along: Int?, _ across: Int?) -> Proposal {
        isHorizontal
            ? Proposal(width: along, height: across) : Proposal(width: across, height: along)
    }

    func size(of nodes: [ViewNode], _ proposal: Proposal) -> Size {
        let sizes = sizes(of: nodes, proposal)
        let long = sizes.reduce(spacing * max(nodes.count - 1, 0)) { $0 + along($1) }
        let wide = sizes.reduce(0) { max($0, across($1)) }
        return isHorizontal ? Size(width: long, height: wide) : Size(width: wide, height: long)
    }

    /// Each gets what it needs at least. The rest is given first to those that can use the least of it: what they leave is
    /// for the others, and what all leave is for those that only fill it.
    private func sizes(of nodes: [ViewNode], _ proposal: Proposal) -> [Size] {
        let (room, wide) =
            isHorizontal
            ? (proposal.width, proposal.height) : (proposal.height, proposal.width)
        guard let room, !nodes.isEmpty else {
            return nodes.map { $0.size(for: self.proposal(nil, wide)) }
        }
        guard nodes.count > 1 else { return [nodes[0].size(for: proposal)] }
        var left = room - spacing * (nodes.count - 1)
        let least = nodes.map { along($0.size(for: self.proposal(0, wide))) }
        let ranges = zip(nodes, least).map { node, least in
            along(node.size(for: self.proposal(Proposal.unbounded, wide))) - least
        }
        var sizes = Array(repeating: Size.zero, count: nodes.count)
        for isFilling in [false, true] {
            let order = nodes.indices.filter { nodes[$0].isFilling == isFilling }
                .sorted { (ranges[$0], $0) < (ranges[$1], $1) }
            var needed = order.reduce(0) { $0 + least[$1] }
            for (done, index) in order.enumerated() {
                let share = max(left - needed, 0) / (order.count - done)
                // In too little room, the last ones are cut.
                let offer = min(least[index] + share, max(left, 0))
                sizes[index] = nodes[index].size(for: self.proposal(offer, wide))
                left -= along(sizes[index])
                needed -= least[index]
            }
        }
        return sizes
    }

    func place(_ nodes: [ViewNode], in frame: Rect) {
        let sizes = sizes(of: nodes, Proposal(frame.size))
        var offset = 0
        for (node, size) in zip(nodes, sizes) {
            let room =
                isHorizontal
                ? Rect(
                    origin: Position(
                        column: frame.origin.column + offset, row: frame.origin.row),
                    size: Size(width: size.width, height: frame.size.height))
                : Rect(
                    origin: Position(
                        column: frame.origin.column, row: frame.origin.row + offset),
                    size: Size(width: frame.size.width, height: size.height))
            node.place(in: alignment.place(size, in: room))
            offset += along(size) + spacing
        }
    }

    /// The same of nodes that are one thing: a single one gets all of the room.
    func placeOne(_ nodes: [ViewNode], in frame: Rect) {
        guard nodes.count == 1 else { return place(nodes, in: frame) }
        let size = nodes[0].size(for: Proposal(frame.size))
        nodes[0].place(in: alignment.place(size, in: frame))
    }
}
