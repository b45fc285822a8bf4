/// The operations of a link that are to be sent, in the order in which they were started.
struct WaitingOperations: Sendable {
    private(set) var mutations: [OperationID] = []
    private(set) var others: [OperationID] = []

    mutating func insert(_ id: OperationID, isMutation: Bool) {
        if isMutation { Self.insert(id, &mutations) } else { Self.insert(id, &others) }
    }

    mutating func remove(_ id: OperationID, isMutation: Bool) {
        if isMutation { Self.remove(id, &mutations) } else { Self.remove(id, &others) }
    }

    mutating func takeOthers() -> [OperationID] {
        defer { others = [] }
        return others
    }

    mutating func takeMutation() -> OperationID? {
        mutations.isEmpty ? nil : mutations.removeFirst()
    }

    private static func insert(_ id: OperationID, _ ids: inout [OperationID]) {
        // Nearly always after all others.
        var place = ids.count
        while place > 0, ids[place - 1] > id { place -= 1 }
        ids.insert(id, at: place)
    }

    private static func remove(_ id: OperationID, _ ids: inout [OperationID]) {
        if let place = ids.firstIndex(of: id) { ids.remove(at: place) }
    }
}
