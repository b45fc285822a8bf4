import Foundation
import OpenCombine
import Relay
import RelayStore
import TodoFixtures

// What a lane does. Each step changes the model and the runtime, and writes down what must be told.

extension RuntimeLane {
    /// Fetches and keeps each todo, so that there is something to begin with.
    func begin() async throws {
        for place in todos.indices {
            retain(place)
            try fetch(place)
            try answer(pending.count - 1)
        }
        try beginList()
        try beginConnection()
        try await compare()
    }

    func step() async throws {
        let place = Int.random(in: todos.indices, using: &random)
        switch Int.random(in: 0..<123, using: &random) {
        case 0..<8: try fetch(place)
        case 8..<14: try fetchPassing()
        case 14..<30: try await mutate(place)
        case 30..<50: try answerSome()
        case 50..<55: cancelSome()
        case 55..<63: burst()
        case 63..<69: try updateLocally(place)
        case 69..<74: try show(place)
        case 74..<79: hide()
        case 79..<84: todos[place].retention == nil ? retain(place) : release(place)
        case 84..<91: todos[place].follower == nil ? follow(place) : unfollow(place)
        case 91..<95: try invalidate(place)
        case 95..<99: try await executeInParts()
        case 99..<102: try keepResult()
        case 102..<104: letGo()
        case 104..<106: eventWithoutData()
        case 106..<110: try answerList()
        case 110..<116: try await changeConnection()
        case 116..<118: try fetchPage()
        default:
            note("collect")
            environment.store.collectGarbage()
        }
        try await compare()
    }

    /// Ends everything that goes on: what was shown is gone, what was confirmed stays.
    func end() async throws {
        while !pending.isEmpty { cancel(pending.count - 1) }
        while !shown.isEmpty { hide() }
        try await compare()
        for place in todos.indices {
            unfollow(place)
            release(place)
        }
        kept = []
        list?.told.cancel()
        list = nil
        connection?.told.cancel()
        connection = nil
        note("cancel the subscription")
        events.cancel()
    }

    // MARK: Queries

    private func fetch(_ place: Int) throws {
        note("fetch \(todos[place].id)")
        let todo = todos[place]
        let (outcomes, made) = asking {
            Outcomes(environment.fetchQuery(todo.query)) { Self.line($0?.node) }
        }
        let same = pending.firstIndex {
            if case .fetch(place) = $0.kind { true } else { false }
        }
        try require(
            made.count == (same == nil ? 1 : 0), "\(made.count) requests were made for a fetch")
        if let same {
            pending[same].outcomes.append(outcomes)
        } else {
            pending.append(
                Pending(kind: .fetch(todo: place), request: made[0], outcomes: [outcomes]))
        }
    }

    private func fetchPassing() throws {
        let id = "\(name)-passing-\(next())"
        note("fetch \(id)")
        let (outcomes, made) = asking {
            Outcomes(environment.fetchQuery(TodoQuery(id: id))) { Self.line($0?.node) }
        }
        try require(made.count == 1, "\(made.count) requests were made for a fetch")
        pending.append(Pending(kind: .passing(id: id), request: made[0], outcomes: [outcomes]))
        if Bool.random(using: &random) { try answer(pending.count - 1) }
    }

    // MARK: Mutations

    private func mutate(_ place: Int) async throws {
        let id = todos[place].id
        let mutation: ModelMutation =
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: .rename("r\(next())")
            case 2, 3: .complete(Bool.random(using: &random))
            default: .delete
            }
        let showsResponse = Bool.random(using: &random)
        let showsUpdate = Bool.random(using: &random)
        let addsSuffix = Bool.random(using: &random)
        let suffix: SelectorStoreUpdater = { store, _ in Self.addSuffix("~", to: id, in: &store) }
        let updater: SelectorStoreUpdater = { store, _ in Self.addSuffix("!", to: id, in: &store) }
        let update = next()
        note("mutate \(id): \(mutation) response \(showsResponse) updater \(showsUpdate)")
        let changes =
            (showsResponse ? [mutation.change] : []) + (showsUpdate ? [.suffix("~")] : [])
        let (outcomes, asked) = committing {
            asking {
                commit(
                    mutation, id, showsResponse ? mutation.optimisticResponse(id) : nil,
                    showsUpdate ? suffix : nil, addsSuffix ? updater : nil)
            }
        } model: {
            if !changes.isEmpty { todos[place].model.show(changes, update: update) }
        }
        let made = await sent(asked)
        try require(made.count == 1, "\(made.count) requests were made for a mutation")
        pending.append(
            Pending(
                kind: .mutation(todo: place, mutation, update: update, addsSuffix: addsSuffix),
                request: made[0], outcomes: [outcomes]))
    }

    private func commit(
        _ mutation: ModelMutation, _ id: String, _ response: [String: Any]?,
        _ optimistic: SelectorStoreUpdater?, _ updater: SelectorStoreUpdater?
    ) -> Outcomes {
        func run<Op: Relay.Operation>(
            _ operation: Op, _ line: @escaping (Op.Data?) -> String
        ) -> Outcomes {
            Outcomes(
                environment.commitMutation(
                    operation, cacheConfig: CacheConfig(metadata: requests),
                    optimisticResponse: response, optimisticUpdater: optimistic, updater: updater),
                line)
        }
        switch mutation {
        case .rename(let text):
            return run(RenameTodoMutation(variables: .init(id: id, text: text))) {
                $0?.renameTodo.map { "renamed \($0.todo.id) \($0.todo.text)" } ?? "null"
            }
        case .complete(let complete):
            return run(change(id, complete)) {
                $0?.changeTodoStatus.map { "status \($0.todo.id) \($0.todo.complete)" } ?? "null"
            }
        case .delete:
            return run(DeleteTodoMutation(variables: .init(id: id))) {
                $0?.removeTodo.map { "removed \($0.deletedTodoId)" } ?? "null"
            }
        }
    }

    private static func addSuffix(
        _ suffix: String, to id: String, in store: inout any RecordSourceSelectorProxy
    ) {
        guard let record = store[DataID(id)], let text = record["text"] as? String else { return }
        record["text"] = text + suffix
    }

    // MARK: Answers

    private func answerSome() throws {
        guard !pending.isEmpty else { return }
        let place = Int.random(in: pending.indices, using: &random)
        if Int.random(in: 0..<4, using: &random) == 0 { refuse(place) } else { try answer(place) }
    }

    /// Answers as a server does that did what was asked.
    private func answer(_ place: Int) throws {
        let pending = pending.remove(at: place)
        switch pending.kind {
        case .fetch(let todo): answerFetch(pending, of: todo, end: true)
        case .passing(let id):
            note("answer \(id)")
            expect(pending, ["todo \(id) passing true", "finished"])
            pending.request.send(Payloads.todo(id, "passing", complete: true))
            pending.request.complete()
        case .connection(let change, let update): answerConnection(pending, change, update)
        case .mutation(let place, let mutation, let update, let addsSuffix):
            let id = todos[place].id
            note("grant \(id): \(mutation), updater \(addsSuffix)")
            let line =
                switch mutation {
                case .rename(let text): "renamed \(id) \(text)"
                case .complete(let complete): "status \(id) \(complete)"
                case .delete: "removed \(id)"
                }
            expect(pending, [line, "finished"])
            committing {
                pending.request.send(mutation.response(id))
                pending.request.complete()
            } model: {
                todos[place].model.revoke(update: update)
                confirm([mutation.change] + (addsSuffix ? [.suffix("!")] : []), on: place)
            }
        }
    }

    private func answerConnection(
        _ pending: Pending, _ change: ConnectionModel.Change, _ update: Int
    ) {
        note("grant \(change)")
        expect(pending, ["done", "finished"])
        committing {
            pending.request.send(change.response)
            pending.request.complete()
        } model: {
            connection?.model.revoke(update: update)
            connection?.model.confirm(change)
        }
    }

    private func answerFetch(_ pending: Pending, of place: Int, end: Bool) {
        let id = todos[place].id
        let (text, complete) = ("f\(next())", Bool.random(using: &random))
        note("answer \(id): \(text) \(complete)")
        expect(pending, ["todo \(id) \(text) \(complete)", "finished"])
        committing {
            pending.request.send(Payloads.todo(id, text, complete: complete))
            pending.request.complete()
        } model: {
            confirm([.text(text), .complete(complete)], on: place)
            let isRetained = todos[place].retention != nil
            todos[place].isCertain = isRetained || todos[place].follower != nil
            todos[place].isFetchKnown = isRetained
            todos[place].isInvalidated = false
            todos[place].isStoreInvalidated = false
        }
    }

    private func confirm(_ changes: [TodoModel.Change], on place: Int) {
        todos[place].model.confirm(changes)
        // What was said of the record is gone with it.
        if todos[place].model.confirmed == .deleted { todos[place].isInvalidated = false }
    }

    private func expect(_ pending: Pending, _ lines: [String]) {
        for outcomes in pending.outcomes { expectations.append((outcomes, lines)) }
    }

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

    private func cancelSome() {
        if !pending.isEmpty { cancel(Int.random(in: pending.indices, using: &random)) }
    }

    private func cancel(_ place: Int) {
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

    // MARK: Events

    /// Several events at once, and perhaps the answer to a query among them: one step.
    private func burst() {
        let size = Int.random(in: 1...4, using: &random)
        var messages: [(text: String, id: String, complete: Bool)] = []
        var model: [(changes: [TodoModel.Change], place: Int)] = []
        for _ in 0..<size {
            let place = Int.random(in: todos.indices, using: &random)
            let complete = Bool.random(using: &random)
            var text = "e\(next())"
            var buried: Int?
            if Int.random(in: 0..<3, using: &random) == 0 {
                buried = Int.random(in: todos.indices, using: &random)
                text += " buries \(todos[buried ?? 0].id)"
            }
            messages.append((text, todos[place].id, complete))
            model.append(([.text(text), .complete(complete)], place))
            if let buried { model.append(([.delete], buried)) }
        }
        note("burst \(messages)")
        for message in messages {
            expectedEvents.append("todo \(message.id) \(message.text) \(message.complete)")
        }
        committing {
            ResponseBurst.gather {
                for (text, id, complete) in messages {
                    eventRequest.send(
                        """
                        {"data":{"todoAdded":{"todo":\
                        {"id":"\(id)","text":"\(text)","complete":\(complete)}}}}
                        """)
                }
            }
        } model: {
            for (changes, place) in model { confirm(changes, on: place) }
        }
    }

    // MARK: Local changes

    private func updateLocally(_ place: Int) throws {
        let (id, text) = (todos[place].id, "l\(next())")
        note("update \(id): \(text)")
        try committing {
            try environment.commitUpdate { store in store[DataID(id)]?["text"] = text }
        } model: {
            confirm([.localText(text)], on: place)
        }
    }

    private func show(_ place: Int) throws {
        let (id, update) = (todos[place].id, next())
        note("show \(id)")
        let end = try committing {
            try environment.applyUpdate { store in
                guard let record = store[DataID(id)], let text = record["text"] as? String else {
                    return
                }
                record["text"] = text + "+"
            }
        } model: {
            todos[place].model.show([.suffix("+")], update: update)
        }
        shown.append((update, place, end))
    }

    private func hide() {
        guard !shown.isEmpty else { return }
        let (update, place, end) = shown.remove(
            at: Int.random(in: shown.indices, using: &random))
        note("hide \(todos[place].id)")
        committing {
            end.cancel()
        } model: {
            todos[place].model.revoke(update: update)
        }
    }

    private func invalidate(_ place: Int) throws {
        if isAlone, Bool.random(using: &random) {
            note("invalidate the store")
            try environment.commitUpdate { store in store.invalidateStore() }
            for place in todos.indices { todos[place].isStoreInvalidated = true }
            return
        }
        let id = todos[place].id
        note("invalidate \(id)")
        try environment.commitUpdate { store in store[DataID(id)]?.invalidateRecord() }
        if case .fields = todos[place].model.confirmed { todos[place].isInvalidated = true }
    }

    // MARK: Keeping and following

    private func retain(_ place: Int) {
        note("retain \(todos[place].id)")
        todos[place].retention = environment.retain(
            operation: todos[place].query.createDescriptor())
        todos[place].isFetchKnown = false
    }

    private func release(_ place: Int) {
        guard let retention = todos[place].retention else { return }
        note("release \(todos[place].id)")
        retention.cancel()
        todos[place].retention = nil
        todos[place].isFetchKnown = false
        noteKeepers(place)
    }

    private func follow(_ place: Int) {
        guard todos[place].isCertain else { return }
        note("follow \(todos[place].id)")
        let publisher = environment.subscribe(snapshot: snapshot(of: todos[place]))
        todos[place].follower = Follower(
            told: Outcomes(publisher) { "\(Self.record($0))" })
    }

    private func unfollow(_ place: Int) {
        guard let follower = todos[place].follower else { return }
        note("unfollow \(todos[place].id)")
        follower.told.cancel()
        todos[place].follower = nil
        noteKeepers(place)
    }

    private func noteKeepers(_ place: Int) {
        if todos[place].retention == nil, todos[place].follower == nil {
            todos[place].isCertain = false
        }
    }
}
