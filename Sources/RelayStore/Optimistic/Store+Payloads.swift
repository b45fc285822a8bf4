@_spi(Rooms) import RelayRecords

/// A response that belongs to no mutation, on its way to the store.
package struct ArrivedPayload {
    package let operation: OperationDescriptor
    package let response: [UInt8]
    package let updater: SelectorUpdater?
    /// The parts of the execution that it is for; nil: it comes in one piece.
    package let parts: ResponseParts?
    /// Called by the single writer when the response is taken in, before anybody is notified. It must not call the store.
    package let taken: (ResponseSummary) -> Void

    package init(
        _ operation: OperationDescriptor, _ response: [UInt8], updater: SelectorUpdater? = nil,
        parts: ResponseParts? = nil, taken: @escaping (ResponseSummary) -> Void = { _ in }
    ) {
        self.operation = operation
        self.response = response
        self.updater = updater
        self.parts = parts
        self.taken = taken
    }
}

extension Store {
    /// Takes in responses that came together: one step of the history, and one notification for all.
    ///
    /// Each response is read at its own step: it sees those before it and none after it. So does its updater. A
    /// response that is refused leaves the records as they would be without it; the others are still taken in.
    /// - Returns: each response as it was written, or why it was refused: ``StoreError/responseWithoutData(_:)``,
    ///   `JSONError`, `InvalidResponse`, or what its updater threw.
    /// - Throws: ``StoreError/updateWithinUpdate``.
    package func commitPayloads(
        _ payloads: [ArrivedPayload]
    ) throws -> [Result<WrittenResponse, any Error>] {
        try write { writer, outcome in
            var draft = writer.state.draft()
            var results: [Result<TakenResponse, any Error>] = []
            for payload in payloads {
                let before = draft.mark
                do {
                    let taken = try take(payload, into: &draft, &writer, &outcome)
                    payload.taken(taken.summary)
                    results.append(.success(taken))
                } catch {
                    draft.takeBack(to: before)
                    results.append(.failure(error))
                }
            }
            let isWritten = results.contains { if case .success = $0 { true } else { false } }
            if isWritten { commit("commitPayload", draft, &writer, &outcome) }
            return results.map { result in result.map { written($0, &writer) } }
        }
    }
}
