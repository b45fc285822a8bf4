import GraphQLTransportWS

// Finds out which operation the server refused to read.

extension LinkMachine {
    /// The server has closed the connection. If it did so because of an operation and there is only one
    /// candidate, that operation ends; several candidates become suspects.
    /// - Returns: what to do, and the loss as it concerns the others.
    mutating func judge(_ loss: ConnectionLoss) -> ([LinkAction], ConnectionLoss) {
        guard loss.remedy == .withoutRefused else { return ([], loss) }
        let unread = sent.ids.filter { operations[$0]?.isRead == false }.sorted()
        let others = ConnectionLoss(loss.error, .retry)
        switch unread.count {
        case 0:
            // It is not about an operation.
            return ([], ConnectionLoss(loss.error, .none))
        case 1:
            let name = operations[unread[0]]?.request.name ?? ""
            return ([finish(unread[0], .refused(name, loss.error))], others)
        default:
            suspects.formUnion(unread)
            suspects.formUnion(waiting.mutations)
            suspects.formUnion(waiting.others)
            return ([], others)
        }
    }

    /// Sends what is not suspected, or else the next suspect alone, followed by a ping.
    mutating func sendSuspects() -> [LinkAction] {
        guard case .open(var connection) = state else { return [] }
        var actions: [LinkAction] = []
        for id in takeRound() { actions += send(id, over: &connection) }
        if !actions.isEmpty {
            actions += messages(connection.ping())
            awaitsPong = true
            pingCount += 1
            actions.append(
                .schedule(
                    .pong(pingCount), after: options.connectTimeout * (1 << min(missedPongs, 6))))
        }
        state = .open(connection)
        return actions
    }

    private mutating func takeRound() -> [OperationID] {
        let mutation = waiting.mutations.first.flatMap { maySend(mutation: $0) ? $0 : nil }
        var round = waiting.others.filter { !suspects.contains($0) }
        if let mutation, !suspects.contains(mutation) { round.append(mutation) }
        if round.isEmpty, let suspect = waiting.others.first ?? mutation { round = [suspect] }
        for id in round {
            waiting.remove(id, isMutation: operations[id]?.isMutation ?? false)
        }
        return round
    }

    /// The server has read everything that was sent before the ping.
    mutating func ponged() -> [LinkAction] {
        guard awaitsPong else { return [] }
        awaitsPong = false
        missedPongs = 0
        for id in sent.ids {
            operations[id]?.noteRead()
            suspects.remove(id)
        }
        return sendWaiting()
    }
}
