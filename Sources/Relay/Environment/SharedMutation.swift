public import RelayArtifacts
@_spi(Rooms) public import RelayStore

/// What a mutation does, as one function for both ends: a server runs it as the mutation's handler, a client
/// as its optimistic updater (`RelayServer.SharedMutation`).
///
///     environment.commitMutation(
///         operation, optimisticUpdater: sharedUpdater(changeAllTodos, input: operation.variables))
///
/// The function reaches records and connections through the proxies, which are alike on both ends: a
/// connection is named by its client's key (`List_todos`), which a server reads as the field behind the last
/// underscore. A client shows what the function did until the server has done the same. A client may not have
/// all records that the function needs: when it throws, nothing is shown, and the mutation is sent all the same.
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

/// An optimistic updater that a client can do without had nothing to go by.
struct NothingToShow: Error {}
