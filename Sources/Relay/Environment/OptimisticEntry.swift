public import RelayArtifacts
import RelayJSON
@_spi(Rooms) public import RelayStore

/// A change that the server has not confirmed: a mutation without an answer, or an optimistic update that belongs to no
/// mutation. What it changes is shown until it ends.
public struct OptimisticEntry: Hashable, Sendable, Identifiable {
    /// Increases from each entry of a store to the next.
    public let id: UInt64
    /// The mutation's operation; of an update that belongs to no mutation, its own name.
    public let operation: String
    /// `CLIENT:N`, by which the server knows the mutation; nil: nothing is sent.
    public let transactionID: String?
    /// The mutation's variables.
    public let variables: VariableData
    /// The records that it writes or deletes. A mutation without an expected answer changes none.
    public let records: Set<DataID>
    /// What ``records`` was made of.
    private let writes: WriteSet?

    fileprivate init(_ mutation: PendingMutation, known: OptimisticEntry?) {
        let intent = mutation.intent
        id = mutation.sequence
        operation = intent.operationName ?? intent.field
        transactionID = intent.mutationID.map { "\($0)" }
        variables = known?.variables ?? VariableData(intent.arguments.object ?? [:])
        writes = intent.optimistic
        if let known, known.writes == writes {
            records = known.records
        } else {
            records = Set((writes?.recordIDs ?? []).map { DataID($0) })
        }
    }
}

extension Environment {
    /// The changes that the server has not confirmed, oldest first: those of this process and, with a store on disk, those
    /// of earlier ones, until they are answered (``resumeMutations(_:completion:)``). Does not wait for anything.
    public var optimisticEntries: [OptimisticEntry] { optimisticEntries(knowing: []) }

    /// The same; those that are known are not made again.
    package func optimisticEntries(knowing known: [OptimisticEntry]) -> [OptimisticEntry] {
        let pending = store.snapshot.pending
        if pending.isEmpty { return [] }
        let known = Dictionary(known.map { ($0.id, $0) }) { $1 }
        return pending.map { OptimisticEntry($0, known: known[$0.sequence]) }
    }
}
