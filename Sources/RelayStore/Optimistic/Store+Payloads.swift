/// A response that belongs to no mutation, on its way to the store.
package struct ArrivedPayload {
    package let operation: OperationSelector
    package let response: [UInt8]
    package let updater: SelectorUpdater?

    package init(
        _ operation: OperationSelector, _ response: [UInt8], updater: SelectorUpdater? = nil
    ) {
        self.operation = operation
        self.response = response
        self.updater = updater
    }
}

extension Store {
    /// Takes in responses that came together: one step of the history, and one notification for all.
    ///
    /// Each updater runs behind its own response, and sees those before it. A response that cannot be
    /// taken in leaves the records as they were without it, and the others are taken in all the same.
    /// - Returns: for each, what it says besides its data, or why it was not taken in:
    ///   ``StoreError/responseWithoutData(_:)``, `JSONError`, `ResponseError`, or what its updater threw.
    /// - Throws: ``StoreError/updateWithinUpdate``.
    package func commitPayloads(
        _ payloads: [ArrivedPayload]
    ) throws -> [Result<ResponseSummary, any Error>] {
        try write { writer, outcome in
            var draft = writer.state.draft()
            var results: [Result<ResponseSummary, any Error>] = []
            var taken: [OperationSelector] = []
            for payload in payloads {
                let before = draft
                do {
                    let summary = try normalize(
                        payload.response, payload.operation, payload.updater, &draft, &writer)
                    results.append(.success(summary))
                    taken.append(payload.operation)
                } catch {
                    draft = before
                    results.append(.failure(error))
                }
            }
            if taken.isEmpty { return results }
            commit("commitPayload", draft, &writer, &outcome)
            for operation in taken { noteFetched(operation, &writer) }
            return results
        }
    }
}
