@_spi(Rooms) import RelayRecords

/// A response that has been written to a store, and what its operation read of it at that very step.
///
/// The reading is a value. What is written later, by responses of the same burst or by anything else, does not
/// change it, and a collection takes nothing from it.
package struct WrittenResponse: Sendable {
    /// What the response says besides its data.
    package let summary: ResponseSummary
    /// What the operation read from the confirmed records once the response was among them: before its updater
    /// ran, and without what other mutations show optimistically.
    package let reading: SelectorSnapshot
    /// Keeps the records that the operation reaches from being collected until it is let go of, so that fragments
    /// in the data can be read by the code that the response is delivered to.
    package let hold: Retention
}

extension Store {
    /// A response in a draft, before the draft is committed.
    struct TakenResponse {
        let operation: OperationDescriptor
        let summary: ResponseSummary
        let reading: SelectorSnapshot
    }

    /// Writes a response to a draft, reads what its operation selects, and runs its updater, in this order.
    /// - Throws: as ``commitPayload(_:_:updater:)``; the draft is then half written.
    func take(
        _ payload: ArrivedPayload, into draft: inout Draft, _ writer: inout Writer,
        _ outcome: inout Outcome
    ) throws -> TakenResponse {
        let operation = payload.operation
        do {
            let (summary, state, response) = try normalize(payload, &draft, &writer)
            let reading = read(operation, state)
            if let updater = payload.updater {
                try run(updater, of: operation, reading, &draft, &writer)
            }
            let held = summary.hasNext ? ResponseParts.Held.state(state) : .nothing
            note(held, of: summary.hasNext ? response : nil, payload, &writer, &outcome)
            return TakenResponse(operation: operation, summary: summary, reading: reading)
        } catch StoreError.responseWithoutData(let summary) {
            // A last word without data: nothing more is to come.
            if summary.isPart, !summary.hasNext {
                note(.nothing, of: nil, payload, &writer, &outcome)
            }
            throw StoreError.responseWithoutData(summary)
        } catch {
            // Behind a part that is refused, others go on with what was before it.
            if !ResponseSummary.isPart(payload.response) {
                note(.refused, of: nil, payload, &writer, &outcome)
            }
            throw error
        }
    }

    /// Keeps what the next part is read with.
    private func note(
        _ held: ResponseParts.Held, of response: PartedResponse.ID?, _ payload: ArrivedPayload,
        _ writer: inout Writer, _ outcome: inout Outcome
    ) {
        guard let parts = payload.parts else { return }
        outcome.held.append(parts.hold(held, of: response))
        if case .state = held { writer.outstanding.insert(parts) }
    }

    /// - Returns: also the state that the operation reads the response from: of a part, with the parts before it alone;
    ///   and the response, if parts of it may come.
    private func normalize(
        _ payload: ArrivedPayload, _ draft: inout Draft, _ writer: inout Writer
    ) throws -> (summary: ResponseSummary, state: Snapshot, response: PartedResponse.ID?) {
        let (operation, response) = (payload.operation, payload.response)
        let held = payload.parts?.held ?? .nothing
        let begun = payload.parts?.response
        // Most responses come in one piece: they are not looked through for what makes a part.
        let isPart = (!held.isNothing || begun != nil) && ResponseSummary.isPart(response)
        let id = isPart ? begun : payload.parts.map { _ in makeResponseID(&writer) }
        guard isPart, !held.isNothing else {
            let (summary, state) = try normalize(
                response, operation, &draft, &writer, of: id.map { PartedResponse(id: $0) })
            return (summary, state, id)
        }
        guard case .state(let former) = held else {
            var summary = ResponseSummary()
            summary.isPart = true
            // What comes behind it is refused as well, until there is another response.
            summary.hasNext = true
            throw StoreError.responseWithoutData(summary)
        }
        let plan = writer.plans.plan(operation, symbols)
        let handlers = handlers
        return try response.withUnsafeBytes { bytes in
            var own = Draft(on: former, keepsPayloads: false)
            var state = former
            var parted = id.map { PartedResponse(id: $0) }
            let (summary, places) = try own.normalize(
                bytes, plan, root: operation.root, handlers: handlers, response: parted,
                places: nil
            ) { state = $0 }
            guard summary.hasData else { throw StoreError.responseWithoutData(summary) }
            parted?.own = state
            // Its path is that of its own response: others may have linked other records there.
            _ = try draft.normalize(
                bytes, plan, root: operation.root, handlers: handlers, response: parted,
                places: places)
            return (summary, state, id)
        }
    }

    private func makeResponseID(_ writer: inout Writer) -> PartedResponse.ID {
        writer.partedCount += 1
        return PartedResponse.ID(
            sequence: writer.state.confirmed.sequence, number: writer.partedCount)
    }

    /// A response whose draft has been committed under the same lock.
    func written(_ taken: TakenResponse, _ writer: inout Writer) -> WrittenResponse {
        noteFetched(taken.operation, &writer)
        return WrittenResponse(
            summary: taken.summary, reading: taken.reading, hold: hold(taken.operation, &writer))
    }
}
