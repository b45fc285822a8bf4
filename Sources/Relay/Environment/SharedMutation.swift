public import RelayArtifacts
@_spi(Rooms) public import RelayStore

/// What a mutation does, as one function for both ends: the server runs it as the mutation's handler, the
/// client as its optimistic updater (`RelayServer.SharedMutation`).
///
///     environment.commitMutation(
///         operation, optimisticUpdater: sharedUpdater(changeAllTodos, input: operation.variables))
///
/// The function reaches records and connections through proxies that are alike on both ends: a connection is
/// named by its client's key (`List_todos`), which a server reads as the field after the last underscore. A
/// client shows the function's changes until the server has made them too. A client may lack records that the
/// function needs: if it throws, nothing is shown, and the mutation is sent anyway.
///
/// - Parameters:
///   - body: what the mutation does, given the arguments of its field.
///   - input: those arguments, as the operation's variables have them.
public func sharedUpdater(
    _ body: @escaping (inout any RecordSourceProxy, VariableData) throws -> DataID?,
    input: any VariableDataConvertible
) -> SelectorStoreUpdater {
    let arguments = input.variableData
    return { store, _ in
        var records: any RecordSourceProxy = store
        do {
            _ = try body(&records, arguments)
        } catch {
            throw NothingToShow()
        }
    }
}

/// An optional optimistic updater had no data to work with.
struct NothingToShow: Error {}
