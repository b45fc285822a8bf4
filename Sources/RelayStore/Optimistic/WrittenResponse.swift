import RelayArtifacts
import RelayJSON
package import RelayNormalization
@_spi(Rooms) import RelayRecords

/// A response that has been written to a store, and what its operation read of it at that very step.
///
/// The reading is a value. Later writes, by responses of the same burst or anything else, do not change it, and a
/// collection takes nothing from it.
package struct WrittenResponse: Sendable {
    /// What the response contains besides its data.
    package let summary: ResponseSummary
    /// What the operation read from the confirmed records once the response was among them: before its updater ran, and
    /// without other mutations' optimistic changes.
    package let reading: SelectorSnapshot
    /// Keeps the records that the operation reaches from being collected until it is released, so that the code that
    /// receives the response can read fragments in its data.
    package let hold: Retention
}

extension ResponseSummary {
    /// Whether a response to a mutation says that nothing of it was carried out. A server whose root fields may be null
    /// has null for what it refuses; any other sends no data at all.
    fileprivate func isRefusal(_ response: [UInt8]) -> Bool {
        guard !errors.isEmpty, !isPart, let data = (try? JSONValue(parsing: response))?["data"],
            let fields = data.object
        else { return false }
        return fields.allSatisfy { $0.key == "__typename" || $0.value == .null }
    }
}

extension Store {
    /// A response in a draft that has not been committed yet.
    struct TakenResponse {
        let operation: OperationDescriptor
        let summary: ResponseSummary
        let reading: SelectorSnapshot
    }

    /// Writes a response to a draft, reads what its operation selects, and runs its updater, in this order. The updater
    /// of a mutation that was refused does not run.
    /// - Throws: as ``commitPayload(_:_:updater:)``; the draft is then half written.
    func take(
        _ payload: ArrivedPayload, into draft: inout Draft, _ writer: inout Writer,
        _ outcome: inout Outcome
    ) throws -> TakenResponse {
        let operation = payload.operation
        do {
            var (summary, state, response) = try normalize(payload, &draft, &writer)
            summary.isRefusal =
                operation.request.node.params.operationKind == .mutation
                && summary.isRefusal(payload.response)
            let reading = read(operation, state)
            if let updater = payload.updater, !summary.isRefusal {
                try run(updater, of: operation, reading, &draft, &writer)
            }
            let held = summary.hasNext ? ResponseParts.Held.state(state) : .nothing
            note(held, of: summary.hasNext ? response : nil, payload, &writer, &outcome)
            return TakenResponse(operation: operation, summary: summary, reading: reading)
        } catch StoreError.responseWithoutData(let summary) {
            // A final message without data: nothing more is to come.
            if summary.isPart, !summary.hasNext {
                note(.nothing, of: nil, payload, &writer, &outcome)
            }
            throw StoreError.responseWithoutData(summary)
        } catch {
            // After a refused part, the others continue from the state before it.
            if !ResponseSummary.isPart(payload.response) {
                note(.refused, of: nil, payload, &writer, &outcome)
            }
            throw error
        }
    }

    /// Keeps what the next part is read with.
    private func note(
        _ held: ResponseParts.Held, of response: PartedResponse?, _ payload: ArrivedPayload,
        _ writer: inout Writer, _ outcome: inout Outcome
    ) {
        guard let parts = payload.parts else { return }
        outcome.held.append(parts.hold(held, of: response))
        if case .state = held { writer.outstanding.insert(parts) }
    }

    /// - Returns: also the state that the operation reads the response from: for a part, with only the parts before it;
    ///   and the response, if it may come in parts.
    private func normalize(
        _ payload: ArrivedPayload, _ draft: inout Draft, _ writer: inout Writer
    ) throws -> (summary: ResponseSummary, state: Snapshot, response: PartedResponse?) {
        let (operation, response) = (payload.operation, payload.response)
        let held = payload.parts?.held ?? .nothing
        let begun = payload.parts?.response
        // Most responses come in one piece: they are not searched for signs of a part.
        let isPart = (!held.isNothing || begun != nil) && ResponseSummary.isPart(response)
        var parted = isPart ? begun : payload.parts.map { _ in makeParted(&writer) }
        guard isPart, !held.isNothing else {
            let (summary, state) = try normalize(response, operation, &draft, &writer, of: parted)
            return (summary, state, parted)
        }
        guard case .state(let former) = held else {
            // Where it belongs cannot be known.
            let message = "A part of a response whose beginning was refused was not taken in."
            var summary = ResponseSummary(errors: [["message": .string(message)]])
            summary.isPart = true
            // What follows is refused as well, until there is another response.
            summary.hasNext = true
            throw StoreError.responseWithoutData(summary)
        }
        let plan = writer.plans.plan(operation, symbols)
        let handlers = handlers
        return try response.withUnsafeBytes { bytes in
            var own = Draft(on: former, keepsPayloads: false)
            var state = former
            let (summary, places) = try own.normalize(
                bytes, plan, root: operation.root, handlers: handlers, response: parted,
                places: nil
            ) { state = $0 }
            guard summary.hasData else { throw StoreError.responseWithoutData(summary) }
            parted?.own = state
            // Its path refers to its own response: others may have linked other records there.
            _ = try draft.normalize(
                bytes, plan, root: operation.root, handlers: handlers, response: parted,
                places: places)
            parted?.own = nil
            return (summary, state, parted)
        }
    }

    private func makeParted(_ writer: inout Writer) -> PartedResponse {
        writer.partedCount += 1
        let sequence = writer.state.confirmed.sequence
        return PartedResponse(id: .init(sequence: sequence, number: writer.partedCount))
    }

    /// Makes the result for a response whose draft has been committed under the same lock.
    func written(_ taken: TakenResponse, _ writer: inout Writer) -> WrittenResponse {
        noteFetched(taken.operation, &writer)
        return WrittenResponse(
            summary: taken.summary, reading: taken.reading, hold: hold(taken.operation, &writer))
    }
}
