import Foundation
import OpenCombine
import RelayJSON
@_spi(Rooms) import RelayStore
import Testing
import Threads
import TodoFixtures

@testable import Relay

/// A mutation's intent is in the store's journal before the mutation is sent.
@Suite(.bounded) struct WriteAheadTests {
    private let journal = HeldJournal()
    private let network = MockNetwork()
    private let retries = Retries()
    private let environment: Environment

    /// Retries of the journal's, done when the test likes.
    private final class Retries: Sendable {
        private let works = Lock<[@Sendable () -> Void]>([])

        func add(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }

        func runAll() {
            let due = works.withLock { works in
                defer { works = [] }
                return works
            }
            for work in due { work() }
        }
    }

    init() {
        var options = StoreOptions()
        options.journal = journal
        options.later = { [retries] _, work in retries.add(work) }
        environment = Environment(network: network, store: Store(options: options))
    }

    private func begin(_ id: String) -> Collected<ChangeTodoStatusMutation.Data?> {
        Collected(
            environment.commitMutation(
                change(id, true), optimisticResponse: optimisticStatus(id, true)))
    }

    private var sent: [String] {
        network.requests.compactMap {
            if case .object(let input)? = $0.variables["input"],
                case .string(let id)? = input["id"]
            {
                id
            } else {
                nil
            }
        }
    }

    @Test func aMutationIsSentOnceItsIntentIsOnTheDisk() async {
        let result = begin("a")
        // Shown at once; a screen waits for no disk.
        #expect(environment.store.snapshot.existing("a") != nil)
        #expect(journal.heldCount == 1)
        #expect(sent == [])
        journal.release()
        await eventually { sent == ["a"] }
        network.requests.first?.resolve(Payloads.status("a", complete: true))
        #expect(result.isFinished)
    }

    @Test func mutationsAreSentInTheOrderInWhichTheyWereBegun() async {
        let all = (0..<50).map { begin("\($0)") }
        #expect(sent == [])
        for _ in 0..<50 { journal.release() }
        await eventually { sent.count == 50 }
        #expect(sent == (0..<50).map { "\($0)" })
        withExtendedLifetime(all) {}
    }

    /// Whoever sees a mutation shown and begins another has it sent behind that one, as the journal has them.
    @Test(arguments: [true, false])
    func oneThatIsBegunOnSeeingAnotherIsSentBehindIt(isJournaled: Bool) async throws {
        let network = network
        let environment =
            isJournaled ? environment : Environment(network: network, store: Store())
        let query = TodoQuery(id: "a").createDescriptor()
        try environment.commitPayload(
            query, ["node": ["__typename": "Todo", "id": "a", "text": "A", "complete": false]])
        let commit = { (id: String) in
            Collected(
                environment.commitMutation(
                    change(id, true), optimisticResponse: optimisticStatus(id, true)))
        }
        var second: Collected<ChangeTodoStatusMutation.Data?>?
        let following = environment.subscribe(
            snapshot: environment.lookup(selector: query.fragment, as: TodoQuery.Data.self)
        ).sink { _ in if second == nil { second = commit("b") } }
        let first = commit("a")
        #expect(second != nil)
        if isJournaled {
            #expect(sent == [])
            while journal.heldCount > 0 { journal.release() }
        }
        await eventually { sent.count == 2 }
        #expect(sent == ["a", "b"])
        withExtendedLifetime((following, first)) {}
    }

    /// From several threads, some of them cancelled at once: as the journal has them.
    @Test func mutationsOfSeveralThreadsAreSentInTheOrderOfTheJournal() async {
        let kept = Lock<[Collected<ChangeTodoStatusMutation.Data?>]>([])
        let environment = environment
        let ended = Lock(0)
        for thread in 0..<4 {
            Thread.detachNewThread {
                for number in 0..<50 {
                    let running = Collected(
                        environment.commitMutation(change("\(thread)-\(number)", true)))
                    if number % 7 == 3 { running.cancel() }
                    kept.withLock { $0.append(running) }
                }
                ended.withLock { $0 += 1 }
            }
        }
        // Released while they begin: some are durable at once, others later.
        await eventually {
            while journal.heldCount > 0 { journal.release() }
            return ended.withLock { $0 } == 4 && journal.heldCount == 0
        }
        let begun = journal.events.compactMap { event -> String? in
            guard case .mutation(let intent) = event.body else { return nil }
            return intent.arguments["input"]?["id"]?.string
        }
        #expect(begun.count == 200)
        let uncancelled = begun.filter { (Int($0.drop { $0 != "-" }.dropFirst()) ?? 0) % 7 != 3 }
        await eventually { Set(uncancelled).isSubset(of: sent) }
        let places = Dictionary(uniqueKeysWithValues: begun.enumerated().map { ($1, $0) })
        let order = sent.compactMap { places[$0] }
        #expect(order == order.sorted())
        withExtendedLifetime(kept) {}
    }

    @Test func oneThatIsCancelledWhileItWaitsIsNeverSent() async {
        let first = begin("a")
        let second = begin("b")
        first.cancel()
        while journal.heldCount > 0 { journal.release() }
        await eventually { sent == ["b"] }
        #expect(network.executionCount == 1)
        #expect(environment.store.snapshot.existing("a") == nil)
        withExtendedLifetime(second) {}
    }

    /// One more than may wait does nothing but fail.
    @Test func atTheBoundNoneBegins() async throws {
        let places = (0..<environment.outbox.limit).compactMap { _ in
            environment.outbox.makePlace { _ in }
        }
        let refused = begin("a")
        let error = try #require(refused.error as? TooManyMutationsError)
        #expect(
            error.localizedDescription == """
                Mutation ChangeTodoStatusMutation was not sent: 10000 mutations are already waiting, for the \
                store's journal or for those that an earlier run of the program left unfinished.
                """)
        #expect(environment.store.snapshot.existing("a") == nil)
        #expect(try environment.store.pendingMutations.isEmpty)
        #expect(!environment.isActive(request: change("a", true).createDescriptor().request))
        #expect(journal.heldCount == 0)

        environment.outbox.leave(try #require(places.first))
        let running = begin("b")
        while journal.heldCount > 0 { journal.release() }
        await eventually { sent == ["b"] }
        withExtendedLifetime(running) {}
    }

    @Test func oneIsHeldBackWhileTheJournalRefusesAndFailsWhenItHasStopped() async throws {
        journal.refuse(.storageFull)
        let held = begin("a")
        await eventually {
            if case .retrying = environment.store.journalStatus { true } else { false }
        }
        #expect(sent == [])
        journal.refuse(nil)
        retries.runAll()
        #expect(journal.heldCount == 1)
        #expect(sent == [])
        journal.release()
        await eventually { sent == ["a"] }

        journal.refuse(.frozen)
        let failed = begin("b")
        await eventually { failed.error != nil }
        let error = try #require(failed.error as? UnkeptMutationError)
        #expect(
            error.localizedDescription == """
                Mutation ChangeTodoStatusMutation was not sent: its intent could not be written to the \
                store's journal. The disk says no.
                """)
        #expect(environment.store.snapshot.existing("b") == nil)
        #expect(sent == ["a"])
        withExtendedLifetime(held) {}
    }

    @Test func thePolicyMayFailItOrSendItAnyway() async {
        journal.refuse(.storageFull)
        environment.unkeptMutations = .fail
        let failed = begin("a")
        await eventually { failed.error is UnkeptMutationError }
        #expect(sent == [])
        environment.unkeptMutations = .send
        let sentAnyway = begin("b")
        await eventually { sent == ["b"] }
        withExtendedLifetime(sentAnyway) {}
    }

    // MARK: Unfinished mutations

    /// What a mutation's unfinished predecessors leave in a journal.
    private func unfinished(_ ids: [String]) throws -> RelayStore.Snapshot {
        let store = Store(options: StoreOptions())
        for (number, id) in ids.enumerated() {
            _ = try store.applyMutation(
                change(id, true).createDescriptor(),
                mutationID: MutationID("old:\(number + 1)"))
        }
        return try store.confirmed
    }

    @Test func unfinishedMutationsAreSentOneAfterTheOtherAndNewOnesBehindThem() throws {
        let network = MockNetwork()
        let environment = Environment(
            network: network,
            store: Store(try unfinished(["a", "b"]), options: StoreOptions()))
        let ended = Lock<[String]>([])
        try environment.resumeMutations([ResumableMutation(ChangeTodoStatusMutation.self)]) {
            resumed in
            ended.withLock { $0.append(resumed.transactionID) }
        }
        let new = Collected(environment.commitMutation(change("c", true)))
        func names() -> [String?] { network.requests.map(\.cacheConfig.transactionID) }
        #expect(names() == ["old:1"])
        // One that the server refuses holds nobody up.
        network.requests.first?.resolve(#"{"errors":[{"message":"no"}]}"#)
        #expect(names() == ["old:2"])
        #expect(new.values.isEmpty)
        network.requests.first?.resolve(Payloads.status("b", complete: true))
        #expect(ended.withLock { $0 } == ["old:1", "old:2"])
        #expect(network.requests.count == 1)
        network.requests.first?.resolve(Payloads.status("c", complete: true))
        #expect(new.isFinished)
        // And later ones wait for nobody.
        let last = Collected(environment.commitMutation(change("d", true)))
        #expect(network.requests.count == 1)
        withExtendedLifetime(last) {}
    }

    /// Its place is free, and what it would have done is let go of.
    @Test func oneThatIsCancelledWhileItWaitsForUnfinishedOnesKeepsNothing() throws {
        let (environment, network) = try resumed(["a"])
        try resume(environment)
        weak var kept: Retries?
        do {
            let held = Retries()
            kept = held
            let cancelled = Collected(
                environment.commitMutation(
                    change("b", true), updater: { _, _ in held.runAll() }))
            cancelled.cancel()
        }
        #expect(kept == nil)
        let new = Collected(environment.commitMutation(change("c", true)))
        network.requests.first?.resolve(Payloads.status("a", complete: true))
        network.requests.first?.resolve(Payloads.status("c", complete: true))
        #expect(new.isFinished && network.executionCount == 2)
    }

    private func resumed(
        _ ids: [String]
    ) throws -> (environment: Environment, network: MockNetwork) {
        let network = MockNetwork()
        let store = Store(try unfinished(ids), options: StoreOptions())
        return (Environment(network: network, store: store), network)
    }

    private func resume(_ environment: Environment) throws {
        try environment.resumeMutations([ResumableMutation(ChangeTodoStatusMutation.self)])
    }

    /// A call that comes again has nothing to do with what the first sends, nor with what is of this process.
    @Test func askingAgainSendsNothingTwice() throws {
        let (environment, network) = try resumed(["a", "b"])
        try resume(environment)
        let new = Collected(environment.commitMutation(change("c", true)))
        let shown = try environment.applyUpdate { source in
            source.create(dataID: "shown", typeName: "Todo")["text"] = "shown"
        }
        try resume(environment)
        #expect(environment.store.snapshotText(of: "shown", "text") == "shown")
        for id in ["a", "b", "c"] {
            #expect(network.requests.count == 1)
            network.requests.first?.resolve(Payloads.status(id, complete: true))
        }
        #expect(new.isFinished && network.executionCount == 3)
        let running = Collected(environment.commitMutation(change("d", true)))
        try resume(environment)
        #expect(network.executionCount == 4)
        network.requests.first?.resolve(Payloads.status("d", complete: true))
        #expect(running.isFinished)
        shown.cancel()
    }

    /// Nothing was done, or nobody knows yet whether it was: the server wants it again, and so those behind it stay too.
    @Test(arguments: ["OVERLOADED", "STORAGE_FULL", "OUTCOME_UNKNOWN"])
    func oneThatTheServerMayCarryOutLaterStays(_ code: String) throws {
        let (environment, network) = try resumed(["a", "b"])
        let told = Lock<[String]>([])
        func resume() throws {
            try environment.resumeMutations([ResumableMutation(ChangeTodoStatusMutation.self)]) {
                resumed in
                var end = "ok"
                if case .failure(let error) = resumed.result {
                    end = (error as? NetworkError)?.errors.first?.message ?? "\(error)"
                }
                told.withLock { $0.append("\(resumed.transactionID) \(end)") }
            }
        }
        let error = #"{"message":"later","extensions":{"code":"\#(code)"}}"#
        try resume()
        network.requests.first?.resolve(#"{"errors":[\#(error)]}"#)
        #expect(told.withLock { $0 } == ["old:1 later", "old:2 later"])
        #expect(network.requests.isEmpty)
        try resume()
        #expect(network.requests.map(\.cacheConfig.transactionID) == ["old:1"])
        // With data it was carried out, whatever its own error says.
        network.requests.first?.resolve(
            #"{"data":{"changeTodoStatus":null},"errors":[\#(error)]}"#)
        #expect(network.requests.map(\.cacheConfig.transactionID) == ["old:2"])
        network.requests.first?.resolve(#"{"data":null,"errors":[\#(error)]}"#)
        #expect(network.requests.isEmpty)
        try resume()
        #expect(network.requests.isEmpty)
    }

    /// One of this process has a caller, who is told.
    @Test func oneOfThisProcessIsOver() async {
        let result = begin("a")
        journal.release()
        await eventually { sent == ["a"] }
        network.requests.first?.resolve(
            #"{"errors":[{"message":"later","extensions":{"code":"OVERLOADED"}}]}"#)
        #expect((result.error as? NetworkError)?.errors.first?.message == "later")
    }

    /// Nobody waits for it at a screen: it is told, and stays, and so do those behind it, in their order.
    @Test func oneThatTheNetworkLosesStaysForALaterCall() throws {
        let (environment, network) = try resumed(["a", "b", "c"])
        let told = Lock<[String]>([])
        func resume() throws {
            try environment.resumeMutations([ResumableMutation(ChangeTodoStatusMutation.self)]) {
                resumed in
                let isFailed = (try? resumed.result.get()) == nil
                told.withLock { $0.append(resumed.transactionID + (isFailed ? " no" : "")) }
            }
        }
        func names() -> [String?] { network.requests.map(\.cacheConfig.transactionID) }
        try resume()
        let new = Collected(environment.commitMutation(change("d", true)))
        network.requests.first?.resolve(Payloads.status("a", complete: true))
        #expect(names() == ["old:2"])
        network.requests.first?.reject(URLError(.notConnectedToInternet))
        #expect(told.withLock { $0 } == ["old:1", "old:2 no", "old:3 no"])
        #expect(try environment.store.pendingMutations.count == 3)
        // What this run has begun has somebody who waits for it.
        #expect(network.requests.count == 1)
        network.requests.first?.resolve(Payloads.status("d", complete: true))
        #expect(new.isFinished)

        try resume()
        #expect(names() == ["old:2"])
        network.requests.first?.resolve(Payloads.status("b", complete: true))
        #expect(names() == ["old:3"])
        network.requests.first?.resolve(Payloads.status("c", complete: true))
        #expect(
            told.withLock { $0 } == ["old:1", "old:2 no", "old:3 no", "old:2", "old:3"])
        #expect(try environment.store.pendingMutations.isEmpty)
        #expect(network.executionCount == 5)
    }

    /// Whoever asks for them again when he is told has them in their order, too.
    @Test func askingAgainWhenOneWasNotSentKeepsTheOrder() throws {
        let (environment, network) = try resumed(["a", "b", "c"])
        let isAskedAgain = Lock(false)
        try environment.resumeMutations([ResumableMutation(ChangeTodoStatusMutation.self)]) {
            resumed in
            guard resumed.transactionID == "old:2", !isAskedAgain.withLock({ $0 }) else { return }
            isAskedAgain.withLock { $0 = true }
            try? resume(environment)
        }
        network.requests.first?.reject(URLError(.notConnectedToInternet))
        for number in 1...3 {
            #expect(network.requests.map(\.cacheConfig.transactionID) == ["old:\(number)"])
            network.requests.first?.resolve(Payloads.status("abc", complete: true))
        }
        #expect(network.executionCount == 4)
        #expect(try environment.store.pendingMutations.isEmpty)
    }

    /// A program that asks again at once, each time, holds up nobody who has begun a mutation meanwhile.
    @Test func repeatedCallsBlockNothing() throws {
        let (environment, network) = try resumed(["a", "b"])
        var rounds = 0
        func ask() throws {
            rounds += 1
            try environment.resumeMutations([ResumableMutation(ChangeTodoStatusMutation.self)]) {
                if $0.transactionID == "old:2" { try? ask() }
            }
        }
        try ask()
        let new = Collected(
            environment.commitMutation(
                change("c", true), cacheConfig: CacheConfig(transactionID: "new")))
        for _ in 0..<4 { network.requests.last?.reject(URLError(.notConnectedToInternet)) }
        #expect(network.requests.map(\.cacheConfig.transactionID) == ["new", "old:1"])
        #expect(rounds == 5 && new.error == nil)
    }

    /// A network of one's own says which of its failures are about the mutation.
    @Test func aMutationThatItsNetworkEndsBlocksNothing() throws {
        struct Refused: NetworkFailure { var endsMutation: Bool { true } }
        let (environment, network) = try resumed(["a", "b"])
        try resume(environment)
        network.requests.first?.reject(Refused())
        #expect(network.requests.map(\.cacheConfig.transactionID) == ["old:2"])
        #expect(try environment.store.pendingMutations.count == 1)
    }

    /// The server knows a mutation by an id; a program's own name for it is for its events.
    @Test func aMutationWithANameOfItsOwnIsKeptUnderAnID() throws {
        let running = Collected(
            environment.commitMutation(
                change("a", true), cacheConfig: CacheConfig(transactionID: "save-7")))
        let intent = try #require(environment.store.pendingMutations.first?.mutation.intent)
        #expect(intent.mutationID != nil)
        withExtendedLifetime(running) {}
    }

    @Test func interruptionsAreCountedWithTheMutationInTheJournal() async throws {
        let running = begin("a")
        journal.release()
        await eventually { sent == ["a"] }
        let interruptions = try #require(network.requests.first?.cacheConfig.interruptions)
        #expect(interruptions.count == 0)
        interruptions.note()
        interruptions.note()
        #expect(
            try environment.store.pendingMutations.map(\.mutation.intent.interruptionCount) == [2])

        // What the journal has leads to the same.
        var snapshot = RelayStore.Snapshot()
        var changes = ChangeSet()
        for (place, event) in journal.events.enumerated() {
            let payload = event.body.payload
            let body = try payload.withUnsafeBytes {
                try EventBody(kind: event.body.kind, payload: $0)
            }
            try snapshot.fold(
                Event(sequence: UInt64(place) + 1, timeMicroseconds: 0, body: body),
                changes: &changes)
        }
        #expect(snapshot.pending.map(\.intent.interruptionCount) == [2])

        // And the network of the next life is told.
        let network = MockNetwork()
        let next = Environment(
            network: network, store: Store(snapshot, options: StoreOptions()))
        try next.resumeMutations([ResumableMutation(ChangeTodoStatusMutation.self)])
        #expect(network.requests.map(\.cacheConfig.interruptions?.count) == [2])
        withExtendedLifetime(running) {}
    }
}
