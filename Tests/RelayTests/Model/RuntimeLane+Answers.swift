import Foundation
import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import TodoFixtures

// How what a lane has asked ends.

extension RuntimeLane {
    /// Something that the network gives.
    struct Arrival {
        /// Whether it is a step by itself, whatever comes together with it: the answer to a mutation.
        var isStep = false
        let give: () -> Void
        /// What it makes of the model.
        var model: () -> Void = {}
    }

    func answerSome() {
        guard !pending.isEmpty else { return }
        let place = Int.random(in: pending.indices, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: refuse(place)
        case 2: endWithoutData(place)
        default: answer(place)
        }
    }

    func answer(_ place: Int) {
        let arrival = arrival(answering: pending.remove(at: place))
        committing(arrival.give, model: arrival.model)
    }

    /// As from a server that did what was asked, or part of it.
    func arrival(answering pending: Pending) -> Arrival {
        switch pending.kind {
        case .fetch(let place): return answerFetch(pending, of: place)
        case .passing(let id):
            note("answer \(id)")
            expect(pending, ["todo \(id) passing true", "finished"])
            return Arrival {
                pending.request.send(Payloads.todo(id, "passing", complete: true))
                pending.request.complete()
            }
        case .connection(let change, let update):
            return answerConnection(pending, change, update)
        case .mutation(let place, let mutation, let update, let updater):
            return answerMutation(pending, place, mutation, update, updater)
        }
    }

    private func answerFetch(_ pending: Pending, of place: Int) -> Arrival {
        let id = todos[place].id
        let (text, complete) = ("f\(next())", Bool.random(using: &random))
        note("answer \(id): \(text) \(complete)")
        expect(pending, ["todo \(id) \(text) \(complete)", "finished"])
        return Arrival {
            pending.request.send(Payloads.todo(id, text, complete: complete))
            pending.request.complete()
        } model: { [self] in
            confirm([.text(text), .complete(complete)], on: place)
            let isRetained = todos[place].retention != nil
            todos[place].isCertain = isRetained || todos[place].follower != nil
            todos[place].isFetchKnown = isRetained
            todos[place].isInvalidated = false
            todos[place].isStoreInvalidated = false
        }
    }

    private func answerConnection(
        _ pending: Pending, _ change: ConnectionModel.Change, _ update: Int
    ) -> Arrival {
        let response = besideErrors(change.response)
        note("grant \(change): \(response)")
        expect(pending, ["done", "finished"])
        return Arrival(isStep: true) {
            pending.request.send(response)
            pending.request.complete()
        } model: { [self] in
            connection?.model.revoke(update: update)
            connection?.model.confirm(change)
        }
    }

    private func answerMutation(
        _ pending: Pending, _ place: Int, _ mutation: ModelMutation, _ update: Int,
        _ updater: ModelUpdater
    ) -> Arrival {
        let id = todos[place].id
        let isNull = Int.random(in: 0..<6, using: &random) == 0
        let response = isNull ? mutation.nullResponse : besideErrors(mutation.response(id))
        note("grant \(id): \(mutation), updater \(updater): \(response)")
        let line =
            switch mutation {
            case .rename(let text): "renamed \(id) \(text)"
            case .complete(let complete): "status \(id) \(complete)"
            case .delete: "removed \(id)"
            }
        // A refusal is a failure, and runs no updater.
        expect(pending, isNull || updater == .fails ? ["failed"] : [line, "finished"])
        return Arrival(isStep: true) {
            pending.request.send(response)
            pending.request.complete()
        } model: { [self] in
            todos[place].model.revoke(update: update)
            // Where the updater throws nothing of the response remains.
            if isNull || updater == .fails { return }
            confirm([mutation.change] + updater.changes, on: place)
        }
    }

    /// The same data, perhaps with errors that say that something else was not done.
    private func besideErrors(_ response: String) -> String {
        guard Int.random(in: 0..<4, using: &random) == 0 else { return response }
        return response.dropLast() + #","errors":[{"message":"not all of it"}]}"#
    }

    func confirm(_ changes: [TodoModel.Change], on place: Int) {
        todos[place].model.confirm(changes)
        // What was said of the record is gone with it.
        if todos[place].model.confirmed == .deleted { todos[place].isInvalidated = false }
    }

    private func expect(_ pending: Pending, _ lines: [String]) {
        for outcomes in pending.outcomes { expectations.append((outcomes, lines)) }
    }

    // MARK: Other ends

    /// Fails: on the way, or by errors of the server's.
    private func refuse(_ place: Int) {
        let pending = pending.remove(at: place)
        let isServer = Bool.random(using: &random)
        note("refuse \(pending.kind)")
        expect(pending, ["failed"])
        committing {
            if isServer {
                pending.request.send(#"{"errors":[{"message":"no"}]}"#)
            } else {
                pending.request.fail(URLError(.timedOut))
            }
        } model: {
            revoke(pending)
        }
    }

    /// Ends with a response that has nothing, or with none.
    private func endWithoutData(_ place: Int) {
        let pending = pending.remove(at: place)
        let isResponse = Bool.random(using: &random)
        note("end \(pending.kind) with \(isResponse ? "null" : "nothing")")
        let isConnection = if case .connection = pending.kind { true } else { false }
        expect(pending, (isResponse ? [isConnection ? "done" : "null"] : []) + ["finished"])
        committing {
            if isResponse { pending.request.send(#"{"data":null}"#) }
            pending.request.complete()
        } model: {
            revoke(pending)
        }
    }

    func cancelSome() {
        if !pending.isEmpty { cancel(Int.random(in: pending.indices, using: &random)) }
    }

    func cancel(_ place: Int) {
        let pending = pending.remove(at: place)
        note("cancel \(pending.kind)")
        expect(pending, [])
        committing {
            pending.outcomes.forEach { $0.cancel() }
        } model: {
            revoke(pending)
        }
        // Nobody listens any more.
        pending.request.send(Payloads.todo("\(name)-late", "late", complete: true))
    }

    private func revoke(_ pending: Pending) {
        switch pending.kind {
        case .mutation(let place, _, let update, _): todos[place].model.revoke(update: update)
        case .connection(_, let update): connection?.model.revoke(update: update)
        case .fetch, .passing: break
        }
    }
}
