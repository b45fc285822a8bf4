import Foundation
import Publishing
import RelayJSON
@_spi(Rooms) import RelayStore

// What happens to responses after the store has accepted or rejected them.

extension OperationExecutor {
    /// A response was written to the store, or could not be.
    /// - Parameter entry: that of the mutation that it answers.
    func written(
        _ response: [UInt8], _ result: Result<WrittenResponse, any Error>,
        answering entry: OptimisticEntryID? = nil
    ) {
        do {
            let written = try result.get()
            let summary = withEarlierErrors(written.summary)
            lock.withLock {
                lastRefusal = nil
                if isUnderWay, partial == nil, !summary.isPart { hasSecondResult = true }
                partial = summary.hasNext ? written : nil
            }
            note(.executeNext)
            noteProgress(summary)
            deliver(response, summary, written)
        } catch StoreError.responseWithoutData(let summary) {
            withoutData(response, summary, answering: entry)
        } catch {
            lock.withLock { lastRefusal = nil }
            revoke(entry, reason: "its response could not be applied: \(error)")
            let failure = ResponseError(operation: request.node.params.name, cause: error)
            // A stream goes on after a result that cannot be read.
            guard isStream, error.isAboutResponse else { return fail(failure) }
            note(.executeError, failure)
            let message = JSONValue.string(failure.errorDescription ?? "")
            deliver(response, ResponseSummary(errors: [["message": message]]), nil)
        }
    }

    /// Records for a kept query how much of its response has arrived.
    private func noteProgress(_ summary: ResponseSummary) {
        guard operation.kind == .query else { return }
        if summary.hasNext {
            environment.kept.noteBegun(request)
        } else {
            environment.kept.noteEnded(
                request, hadErrors: !summary.errors.isEmpty,
                isLater: lock.withLock { isUnderWay })
        }
    }

    /// Adds the errors of earlier parts, so that a result has the errors of everything in it. At most 1,000 are
    /// remembered; the newest part's own errors are always included.
    private func withEarlierErrors(_ summary: ResponseSummary) -> ResponseSummary {
        var summary = summary
        lock.withLock {
            if summary.isPart { summary.errors = partialErrors + summary.errors }
            partialErrors = summary.hasNext ? Array(summary.errors.prefix(1_000)) : []
        }
        return summary
    }

    private func withoutData(
        _ response: [UInt8], _ summary: ResponseSummary, answering entry: OptimisticEntryID?
    ) {
        // A response in place of a mutation's result is its answer, whatever it says: the optimistic update has to go.
        if entry == nil, let isComplete = summary.isResumption {
            if !isComplete { missedEvents() }
            return
        }
        lock.withLock {
            lastRefusal = nil
            // It stands in the place of one whose parts were to come.
            if !summary.isPart { (partial, partialErrors) = (nil, []) }
        }
        let refusal = NetworkError(
            errors: summary.errors.map(GraphQLError.init), operation: request.node,
            variables: request.variables)
        if unfinished != nil, entry != nil, summary.isPutOff {
            // It stays in the store, and is sent by the next call of `resumeMutations`.
            end(.failure(refusal), reason: "", revokes: false)?.cancel()
            return
        }
        revoke(entry, reason: "the server refused it")
        if summary.isPart {
            let all = withEarlierErrors(summary)
            let whole = lock.withLock {
                defer { if !summary.hasNext { partial = nil } }
                return partial
            }
            if whole != nil { noteProgress(all) }
            // The end of a stream is not a response; the network reports it too.
            if summary.errors.isEmpty { return }
            if let whole { return deliver(response, all, whole) }
        }
        // An event may fail; its stream goes on.
        let isEvent = operation.kind == .subscription && summary.dataIsNull
        if summary.errors.isEmpty || isEvent { return deliver(response, summary, nil) }
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
        // A query's part may belong to its only response.
        let mayBeOnly =
            operation.kind == .query && request.node.params.isLive == nil
            && !lock.withLock { hasSecondResult }
        let isEvent = isStream && !(mayBeOnly && summary.isPart)
        if operation.kind != .mutation { lock.withLock { isUnderWay = true } }
        if operation.kind == .query, !summary.hasNext { noteAnswered() }
        run.send(GraphQLResponse(response, summary, written: written, isEvent: isEvent))
    }

    /// Whether each response is a result of its own, and others follow, as far as is known. A query whose text only the
    /// server has is live if a second one follows, and that is no part of the first.
    private var isStream: Bool {
        switch operation.kind {
        case .subscription: true
        case .mutation: false
        case .query:
            request.node.params.isLive
                ?? lock.withLock { hasSecondResult || isUnderWay && partial == nil }
        }
    }

    /// The network has completed or failed.
    func networkEnded(_ error: (any Error)?) {
        if let error {
            note(.networkError, error)
            end(
                .failure(error), reason: "the network failed: \(error)",
                revokes: unfinished == nil || error.isAboutMutation)
        } else {
            note(.networkComplete)
            let failure = lock.withLock { () -> (any Error)? in
                let name = request.node.params.name
                let isCut = partial != nil && operation.kind != .subscription
                return isCut ? IncompleteResponseError(operation: name) : lastRefusal
            }
            end(
                failure.map { .failure($0) } ?? .finished,
                reason: "the network completed without a response")
        }
    }

    /// The server has restarted the stream somewhere else.
    func missedEvents() {
        note(.networkInfo)
        // What came before the notice in a burst is as old as all the rest.
        if environment.isNextNoticeNew { ResponseBurst.flush() }
        environment.missedEvents()
    }
}

extension Error {
    /// Whether this network failure ends a mutation: its caller is told, and a mutation without a
    /// caller would only fail with it again.
    fileprivate var isAboutMutation: Bool { (self as? any NetworkFailure)?.endsMutation ?? false }

    /// Whether bytes are not a GraphQL response.
    fileprivate var isAboutResponse: Bool { self is JSONError || self is InvalidResponse }
}

extension ResponseSummary {
    /// Whether bytes are a notice of missed events, told without the store: it comes before what follows in a burst.
    static func isGapNotice(_ response: [UInt8]) -> Bool {
        // A notice is short, and has this member; few responses do.
        guard response.count < 512, response.withUnsafeBytes(hasRecovered),
            let notice = try? JSONValue(parsing: response)
        else { return false }
        return (notice["data"] ?? .null) == .null && (notice["errors"] ?? .null) == .null
            && notice["extensions"]?["relay"]?["recovered"] == false
    }

    private static func hasRecovered(_ response: UnsafeRawBufferPointer) -> Bool {
        var rest = response[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[quote...].dropFirst()
            if rest.starts(with: "recovered\"".utf8) { return true }
        }
        return false
    }

    /// Whether the server has not carried out a mutation, or does not know yet whether it has, and will once it can.
    fileprivate var isPutOff: Bool {
        !hasData && !dataIsNull
            && GraphQLError.putsOffMutation(errors.first?["extensions"]?["code"]?.string)
    }

    /// For a message that says how a stream resumes (`{"data": null, "extensions": {"relay":
    /// {"recovered": …}}}`) and is not a response: whether nothing is missing.
    fileprivate var isResumption: Bool? {
        errors.isEmpty ? extensions?["relay"]?["recovered"]?.bool : nil
    }
}
