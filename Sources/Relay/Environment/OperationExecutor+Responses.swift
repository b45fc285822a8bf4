import Foundation
import RelayJSON
@_spi(Rooms) import RelayStore

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

// What becomes of responses once the store has taken them in, or has not.

extension OperationExecutor {
    /// A response was written to the store, or why it was not.
    /// - Parameter entry: of a mutation that it answers.
    func written(
        _ response: [UInt8], _ result: Result<WrittenResponse, any Error>,
        answering entry: OptimisticEntryID? = nil
    ) {
        lock.withLock { lastRefusal = nil }
        do {
            let written = try result.get()
            lock.withLock { partial = written.summary.hasNext ? written : nil }
            note(.executeNext)
            if !written.summary.hasNext { noteFetched(written.summary.errors) }
            deliver(response, written.summary, written)
        } catch StoreError.responseWithoutData(let summary) {
            withoutData(response, summary, answering: entry)
        } catch {
            revoke(entry, reason: "its response could not be applied: \(error)")
            let failure = ResponseError(operation: request.node.params.name, cause: error)
            // A stream goes on behind an event that cannot be read.
            guard operation.kind == .subscription, error.isAboutResponse else {
                return fail(failure)
            }
            note(.executeError, failure)
            let message = JSONValue.string(failure.errorDescription ?? "")
            deliver(response, ResponseSummary(errors: [["message": message]]), nil)
        }
    }

    /// All of the response has come.
    private func noteFetched(_ errors: [JSONValue]) {
        if operation.kind == .query, errors.isEmpty { environment.kept.noteFetched(request) }
    }

    private func withoutData(
        _ response: [UInt8], _ summary: ResponseSummary, answering entry: OptimisticEntryID?
    ) {
        // What stands in a mutation's place is its answer, whatever it says: what it showed has to go.
        if entry == nil, let isComplete = summary.isResumption {
            if !isComplete { missedEvents() }
            return
        }
        revoke(entry, reason: "the server refused it")
        if summary.isPart {
            let whole = lock.withLock {
                defer { if !summary.hasNext { partial = nil } }
                return partial
            }
            if let whole, !summary.hasNext { noteFetched(summary.errors + whole.summary.errors) }
            // That nothing more comes is no response; the network says it too.
            if summary.errors.isEmpty { return }
            if let whole { return deliver(response, summary, whole) }
        }
        // An event may come to nothing; its stream goes on.
        let isEvent = operation.kind == .subscription && summary.dataIsNull
        if summary.errors.isEmpty || isEvent { return deliver(response, summary, nil) }
        let refusal = NetworkError(
            errors: summary.errors.map(GraphQLError.init), operation: request.node,
            variables: request.variables)
        let goesOn = lock.withLock {
            if isUnderWay { lastRefusal = refusal }
            return isUnderWay
        }
        if !goesOn { return fail(refusal) }
        note(.executeError, refusal)
        deliver(response, summary, nil)
    }

    private func deliver(
        _ response: [UInt8], _ summary: ResponseSummary, _ written: WrittenResponse?
    ) {
        if operation.kind != .mutation { lock.withLock { isUnderWay = true } }
        run.send(GraphQLResponse(response, summary, written: written))
    }

    /// The network has nothing more to give, or failed.
    func networkEnded(_ error: (any Error)?) {
        if let error {
            note(.networkError, error)
            end(
                .failure(error), reason: "the network failed: \(error)",
                revokes: unfinished == nil || error.isAboutMutation)
        } else {
            note(.networkComplete)
            let refusal = lock.withLock { lastRefusal }
            end(
                refusal.map { .failure($0) } ?? .finished,
                reason: "the network completed without a response")
        }
    }

    /// The server has begun the stream anew, and not where it was.
    private func missedEvents() {
        note(.networkInfo)
        environment.missedEvents()
    }
}

extension Error {
    /// Whether a mutation that a network has failed with this is over: whoever waits for it is told, and a
    /// mutation that nobody waits for would fail with it again.
    fileprivate var isAboutMutation: Bool { (self as? any NetworkFailure)?.endsMutation ?? false }

    /// Whether bytes are no GraphQL response.
    fileprivate var isAboutResponse: Bool { self is JSONError || self is RelayStore.ResponseError }
}

extension ResponseSummary {
    /// Of a message that says how a stream goes on (`{"data": null, "extensions": {"relay": {"recovered":
    /// …}}}`) and is no response: whether nothing is missing.
    fileprivate var isResumption: Bool? {
        errors.isEmpty ? extensions?["relay"]?["recovered"]?.bool : nil
    }
}
