import Relay

/// A fragment at a place, which may be another one than that of the key it was made with: what was refetched with other
/// variables is read where its query has it.
struct PointedFragment<F: RefetchFragment>: RefetchFragment, Sendable {
    typealias Key = FragmentPointer
    typealias Data = F.Data
    typealias Operation = F.Operation

    static var node: ReaderFragment { F.node }
    static var metadata: RefetchMetadata<F.Operation> { F.metadata }

    let fragmentPointer: FragmentPointer

    init(key: FragmentPointer) { fragmentPointer = key }
}

extension PointedFragment: Relay.PaginationFragment where F: Relay.PaginationFragment {}
