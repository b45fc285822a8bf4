import GraphQLTransportWS

/// The operations of a link that the server has, over the present connection.
struct SentOperations: Sendable {
    private var entries: [ClientConnection.Operation: (id: OperationID, isMutation: Bool)] = [:]
    private(set) var mutationCount = 0

    subscript(wire: ClientConnection.Operation) -> OperationID? { entries[wire]?.id }

    var ids: some Sequence<OperationID> { entries.values.lazy.map(\.id) }

    mutating func insert(
        _ wire: ClientConnection.Operation, _ id: OperationID, isMutation: Bool
    ) {
        entries[wire] = (id, isMutation)
        if isMutation { mutationCount += 1 }
    }

    mutating func remove(_ wire: ClientConnection.Operation) -> OperationID? {
        guard let entry = entries.removeValue(forKey: wire) else { return nil }
        if entry.isMutation { mutationCount -= 1 }
        return entry.id
    }
}
