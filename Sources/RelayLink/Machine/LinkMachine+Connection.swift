import GraphQLTransportWS
import RelayJSON

// How the machine reacts to events.

extension LinkMachine {
    /// Starts to make a connection.
    mutating func connect() -> [LinkAction] {
        attempt += 1
        awaitsPong = false
        guard options.asksForTokens else {
            state = .connecting
            return [.report(.connecting), .connect(attempt, token: nil)]
        }
        return [.report(.connecting)] + authorize(isRefused: false)
    }

    private mutating func authorize(isRefused: Bool) -> [LinkAction] {
        state = .authorizing
        return [
            .authorize(attempt, isRefused: isRefused),
            .schedule(.token(attempt), after: options.connectTimeout),
        ]
    }

    /// Sends waiting operations, as far as they may be sent.
    mutating func sendWaiting() -> [LinkAction] {
        guard case .open(var connection) = state, connection.isReady, !awaitsPong else { return [] }
        if !suspects.isEmpty { return sendSuspects() }
        var actions: [LinkAction] = []
        while let id = waiting.mutations.first, maySend(mutation: id) {
            _ = waiting.takeMutation()
            actions += send(id, over: &connection)
        }
        for id in waiting.takeOthers() { actions += send(id, over: &connection) }
        state = .open(connection)
        return actions
    }

    func maySend(mutation id: OperationID) -> Bool {
        restingMutation == nil && sent.mutationCount < mutationsInFlight(with: id)
    }

    /// How many mutations may be with the server when this one is sent: an interrupted one is sent alone.
    private func mutationsInFlight(with id: OperationID) -> Int {
        let isAlone = interruptedMutations.contains { other in
            if case .sent? = operations[other]?.phase { true } else { other == id }
        }
        return isAlone ? 1 : options.maximumMutationsInFlight
    }

    mutating func send(
        _ id: OperationID, over connection: inout ClientConnection
    ) -> [LinkAction] {
        guard var operation = operations[id] else { return [] }
        // A stream that is sent from scratch instead of resumed has missed whatever happened meanwhile.
        let hasGap = operation.hasBegun && !operation.canResume
        let (wire, sends) = connection.subscribe(operation.send())
        operation.phase = .sent(wire)
        operations[id] = operation
        sent.insert(wire, id, isMutation: operation.isMutation)
        // After the request, so that what is fetched because of the gap is not older than the stream.
        return messages(sends) + (hasGap ? gap(id, operation) : [])
    }

    /// Tells the server that an operation was cancelled.
    mutating func stop(_ wire: ClientConnection.Operation) -> [LinkAction] {
        _ = sent.remove(wire)
        guard case .open(var connection) = state else { return [] }
        let actions = connection.stop(wire)
        state = .open(connection)
        return messages(actions)
    }

    func messages(_ actions: [ClientConnection.Action]) -> [LinkAction] {
        actions.compactMap { action in
            if case .send(let bytes) = action { .send(bytes) } else { nil }
        }
    }

    /// Performs what the connection's machine asks.
    /// - Parameter blamesMutations: whether a mutation that the server has may be to blame if the connection
    ///   ends.
    mutating func perform(
        _ actions: [ClientConnection.Action], blamesMutations: Bool = true
    ) -> [LinkAction] {
        var result: [LinkAction] = []
        for action in actions {
            switch action {
            case .send(let bytes): result.append(.send(bytes))
            case .close(let code): result += [.close(code)] + lost(ConnectionLoss(own: code))
            case .acknowledged:
                hasConnected = true
                result += [.report(.connected)] + sendWaiting() + watchIdleness()
            case .next(let wire, let payload, let extensions):
                result += next(wire, payload, ResponseNotes(extensions: extensions))
            case .failed(let wire, let errors): result += failed(wire, errors)
            case .completed(let wire):
                guard let id = sent.remove(wire) else { continue }
                forgetFailures()
                result += [finish(id, nil)] + sendWaiting() + watchIdleness()
            case .interrupted(let wire): result += interrupted(wire, blamesMutations)
            case .pinged(let payload): progressed(payload)
            case .ponged: result += ponged()
            }
        }
        return result
    }

    // MARK: Responses

    private mutating func next(
        _ wire: ClientConnection.Operation, _ payload: [UInt8], _ notes: ResponseNotes
    ) -> [LinkAction] {
        guard let id = sent[wire], var operation = operations[id] else { return [] }
        let received = operation.receive(notes)
        operations[id] = operation
        suspects.remove(id)
        switch received {
        case .deliver:
            return [.deliver(id, payload)]
        case .resumed(isComplete: true):
            return [.report(.resumed(operation: operation.request.name, isComplete: true))]
        case .resumed(isComplete: false):
            return gap(id, operation)
        case .restarted:
            return gap(id, operation) + [.deliver(id, payload)]
        }
    }

    /// A stream goes on after a gap: reported as an event and to the reader of its responses.
    private func gap(_ id: OperationID, _ operation: LinkOperation) -> [LinkAction] {
        [
            .report(.resumed(operation: operation.request.name, isComplete: false)),
            .deliver(id, GapNotice.bytes),
        ]
    }

    /// The server has not executed an operation, or ended it with errors.
    private mutating func failed(
        _ wire: ClientConnection.Operation, _ errors: [JSONValue]
    ) -> [LinkAction] {
        guard let id = sent.remove(wire), var operation = operations[id] else {
            return []
        }
        suspects.remove(id)
        let first = errors.first?["extensions"]
        let code = first?["code"]?.string
        if code == "SLOW_CONSUMER", !operation.isMutation,
            let cursor = first?["relay"]?["cursor"]?.string
        {
            operation.interrupt(at: cursor)
            return goOn(id, operation)
        }
        if operation.isMutation, isPutOff(operation, code) { return rest(id, operation) }
        if code == "OVERLOADED" || code == "BEHIND", operation.canResume,
            options.retry.allowsAnotherAttempt(afterFailures: operation.endingCount + 1)
        {
            // Nothing was done, and the cursor stays good.
            operation.pause()
            operation.phase = .resting
            operations[id] = operation
            return [.resumeLater(id, endings: operation.endingCount)] + sendWaiting()
        }
        if operation.asksForRecords, code == "BAD_USER_INPUT",
            operation.responseCount == 0 || operation.awaitsRecovery
        {
            // The server may have no records of this operation; another server may have had them.
            let mark = operation.responseCount == 0 ? RenewalMark.bytes : RenewalMark.refusal
            operation.beginWithoutRecords()
            operation.phase = .waiting
            operations[id] = operation
            waiting.insert(id, isMutation: false)
            return [.deliver(id, mark)] + sendWaiting()
        }
        // Its one response had arrived, but it was not known that no other would follow: the server refuses to
        // resume what is no stream.
        let wasComplete =
            operation.awaitsRecovery && operation.isAnswered && code == "BAD_USER_INPUT"
        forgetFailures()
        let response = JSONValue.object(["errors": .array(errors)]).bytes
        return (wasComplete ? [] : [.deliver(id, response)]) + [finish(id, nil)] + sendWaiting()
            + watchIdleness()
    }

    /// Whether a mutation that may have reached the server is sent again. Without an id it could be carried out twice.
    private func resends(_ mutation: LinkOperation) -> Bool {
        options.resendsMutations && mutation.request.mutationID != nil
    }

    /// Whether a mutation is to be sent again though the server has answered.
    private func isPutOff(_ mutation: LinkOperation, _ code: String?) -> Bool {
        let sendsAgain =
            switch code {
            // Under its id it is carried out once, and its answer says so.
            case "OUTCOME_UNKNOWN": resends(mutation)
            // Nothing was done. Others have a caller, who learns why.
            case "OVERLOADED", "STORAGE_FULL": mutation.isUnfinished
            default: false
            }
        return sendsAgain
            && options.retry.allowsAnotherAttempt(afterFailures: mutation.endingCount + 1)
    }

    private mutating func rest(_ id: OperationID, _ mutation: LinkOperation) -> [LinkAction] {
        operations[id] = mutation
        operations[id]?.pause()
        operations[id]?.phase = .waiting
        waiting.insert(id, isMutation: true)
        if restingMutation != nil { return [] }
        restingMutation = id
        return [.resumeLater(id, endings: mutation.endingCount + 1)]
    }

    /// Resumes a stream that the server has ended: at once, or later if nothing has arrived since the last time.
    private mutating func goOn(_ id: OperationID, _ ended: LinkOperation) -> [LinkAction] {
        operations[id] = ended
        if ended.endingCount > 1 {
            operations[id]?.phase = .resting
            return [.resumeLater(id, endings: ended.endingCount - 1)] + sendWaiting()
        }
        return send(again: id)
    }

    /// A stream is to be sent again.
    mutating func send(again id: OperationID) -> [LinkAction] {
        operations[id]?.phase = .waiting
        waiting.insert(id, isMutation: false)
        return sendWaiting()
    }

    /// Everything up to a cursor has been delivered.
    private mutating func progressed(_ payload: JSONObject?) {
        guard let cursor = ResponseNotes(relay: payload?["relay"]).cursor else { return }
        for id in sent.ids { operations[id]?.progress(to: cursor) }
    }

    /// The connection has ended before an operation did.
    private mutating func interrupted(
        _ wire: ClientConnection.Operation, _ blamesMutations: Bool
    ) -> [LinkAction] {
        guard let id = sent.remove(wire), let operation = operations[id] else {
            return []
        }
        var actions: [LinkAction] = []
        if operation.isMutation {
            // Its response has arrived; only its completion is missing.
            if operation.responseCount > 0 { return [finish(id, nil)] }
            if !resends(operation) {
                return [finish(id, .interrupted(operation.request.name))]
            }
            if blamesMutations {
                let count = operation.interruptionCount + 1
                if let limit = options.maximumInterruptions, count >= limit {
                    return [
                        .interrupted(id),
                        finish(id, .gaveUp(operation.request.name, after: count)),
                    ]
                }
                operations[id]?.interruptionCount = count
                interruptedMutations.insert(id)
                actions = [.interrupted(id)]
            }
        } else if operation.isAnswered, !operation.canResume {
            return [finish(id, nil)]
        }
        operations[id]?.phase = .waiting
        waiting.insert(id, isMutation: operation.isMutation)
        return actions
    }

    // MARK: Ends

    /// The connection is gone, or could not be made.
    mutating func lost(_ loss: ConnectionLoss) -> [LinkAction] {
        attempt += 1
        awaitsPong = false
        let report = LinkAction.report(.disconnected(loss.error))
        switch loss.remedy {
        case _ where isSession && endsSession(loss):
            return [report] + giveUp(loss.error)
        case .freshToken where options.asksForTokens && !hasFreshToken:
            hasFreshToken = true
            return [report] + authorize(isRefused: true)
        case .freshToken:
            return [report] + giveUp(loss.error)
        case .withoutRefused, .none:
            return [report] + giveUpAllButMutations(loss.error)
        case .retry:
            return [report] + tryAgain(loss.error)
        }
    }

    private func endsSession(_ loss: ConnectionLoss) -> Bool {
        !hasConnected || loss.remedy != .retry || loss.error.code == .closed(.goingAway)
    }

    private mutating func tryAgain(_ error: TransportError) -> [LinkAction] {
        failures += 1
        guard options.retry.allowsAnotherAttempt(afterFailures: failures) else {
            return giveUp(error)
        }
        var actions: [LinkAction] = []
        if failures >= options.queryAttempts {
            let queries = operations.filter { $0.value.isUnansweredQuery }.keys.sorted()
            actions = queries.map { finish($0, error) }
        }
        state = isNeeded ? .waiting : .idle
        return isNeeded ? actions + [.retry(attempt, failures: failures)] : actions
    }

    /// Retrying would not help those who need something now. Mutations are not affected: a later connection
    /// may carry them out.
    private mutating func giveUpAllButMutations(_ error: TransportError) -> [LinkAction] {
        if error.code == .stopped { return giveUp(error) }
        let others = operations.filter { !$0.value.isMutation }.keys.sorted()
        let actions = others.map { finish($0, error) }
        return actions + (operations.isEmpty ? giveUp(error) : tryAgain(error))
    }

    /// Retrying would not help: waiting operations fail. Later ones try again, and so does a link that is to have a
    /// connection as long as the program runs: the server may think better of it.
    mutating func giveUp(_ error: TransportError) -> [LinkAction] {
        hasFreshToken = false
        let actions = failAll { _ in error }
        switch options.lifetime {
        case .whileRunning where error.code != .stopped:
            failures += 1
            state = .waiting
            return actions + [.retry(attempt, failures: failures)]
        case .whileNeeded, .whileRunning:
            failures = 0
            state = .idle
            return actions
        case .session:
            failures = 0
            state = .stopped
            return actions + [.ended(error)]
        }
    }

    mutating func failAll(_ error: (_ operation: String) -> TransportError) -> [LinkAction] {
        sent = SentOperations()
        return operations.keys.sorted().map { id in
            finish(id, error(operations[id]?.request.name ?? ""))
        }
    }

    mutating func finish(_ id: OperationID, _ error: TransportError?) -> LinkAction {
        if let operation = operations.removeValue(forKey: id) {
            interruptedMutations.remove(id)
            suspects.remove(id)
            if restingMutation == id { restingMutation = nil }
            waiting.remove(id, isMutation: operation.isMutation)
        }
        return .finish(id, error)
    }

    /// Closes the connection after a while, if it is idle.
    mutating func watchIdleness() -> [LinkAction] {
        guard case .open = state, operations.isEmpty, !isIdlenessWatched,
            let timeout = options.idleTimeout
        else { return [] }
        isIdlenessWatched = true
        return [.schedule(.idle(begunCount), after: timeout)]
    }
}
