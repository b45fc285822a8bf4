import Foundation
import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import TodoFixtures

// What a lane does. Each step changes the model and the runtime, and writes down what must be told.

extension RuntimeLane {
    /// Fetches and keeps each todo, so that there is something to begin with.
    func begin() async throws {
        for place in todos.indices {
            retain(place)
            try fetch(place)
            answer(pending.count - 1)
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
        case 30..<50: answerSome()
        case 50..<55: cancelSome()
        case 55..<63: try burst()
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

    /// Ends everything that is under way: what was shown is gone, what was confirmed stays.
    func settle() async throws {
        while !pending.isEmpty { cancel(pending.count - 1) }
        while !shown.isEmpty { hide() }
        try await compare()
    }

    /// Lets go of everything. All lanes have settled: nobody is being told anything any more, and what was told beyond
    /// what must be is seen now.
    func end() async throws {
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
            Outcomes(environment.fetchQuery(todo.query)) { Self.line($0?.node?.asTodo) }
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
            Outcomes(environment.fetchQuery(TodoQuery(id: id))) { Self.line($0?.node?.asTodo) }
        }
        try require(made.count == 1, "\(made.count) requests were made for a fetch")
        pending.append(Pending(kind: .passing(id: id), request: made[0], outcomes: [outcomes]))
        if Bool.random(using: &random) { answer(pending.count - 1) }
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
        // What nobody keeps may be gone, and nothing is refused then.
        let isPicky = todos[place].isCertain && Int.random(in: 0..<3, using: &random) == 0
        let suffix: SelectorStoreUpdater = { store, _ in
            if isPicky { try Self.refuseComplete(id, in: store) }
            Self.addSuffix("~", to: id, in: &store)
        }
        let after = ModelUpdater.allCases.randomElement(using: &random) ?? .none
        let update = next()
        note(
            "mutate \(id): \(mutation) response \(showsResponse) updater \(showsUpdate) picky \(isPicky)"
        )
        var changes = showsResponse ? [mutation.change] : []
        if showsUpdate { changes += isPicky ? [.refuseComplete, .suffix("~")] : [.suffix("~")] }
        // An optimistic updater that throws at once ends its mutation, and nothing is sent.
        let isRefused = todos[place].model.head.applying(changes) == nil
        let (outcomes, asked) = committing {
            asking {
                commit(
                    mutation, id, showsResponse ? mutation.optimisticResponse(id) : nil,
                    showsUpdate ? suffix : nil, after.updater(of: id))
            }
        } model: {
            if !changes.isEmpty, !isRefused {
                todos[place].model.show(changes, update: update)
            }
        }
        if isRefused {
            try require(asked.isEmpty, "a request was made for a refused mutation")
            expectations.append((outcomes, ["failed"]))
            return
        }
        let made = await sent(asked)
        try require(made.count == 1, "\(made.count) requests were made for a mutation")
        pending.append(
            Pending(
                kind: .mutation(todo: place, mutation, update: update, after), request: made[0],
                outcomes: [outcomes]))
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

    static func addSuffix(
        _ suffix: String, to id: String, in store: inout any RecordSourceSelectorProxy
    ) {
        guard let record = store[DataID(id)], let text = record["text"] as? String else { return }
        record["text"] = text + suffix
    }

    /// Throws on a todo that is complete.
    private static func refuseComplete(
        _ id: String, in store: any RecordSourceSelectorProxy
    ) throws {
        if store[DataID(id)]?["complete"] as? Bool == true { throw ModelUpdater.Refusal() }
    }

    // MARK: Local changes

    private func updateLocally(_ place: Int) throws {
        let (id, text) = (todos[place].id, "l\(next())")
        if Int.random(in: 0..<6, using: &random) == 0 {
            // What an updater wrote before it threw is nowhere.
            note("update \(id): \(text), and throw")
            let result = Result {
                try environment.commitUpdate { store in
                    store[DataID(id)]?["text"] = text
                    throw ModelUpdater.Refusal()
                }
            }
            return try require((try? result.get()) == nil, "an updater threw, and nobody was told")
        }
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
