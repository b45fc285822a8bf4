import Foundation
import RelayStore
import RelayTerminal
import Testing
import TodoFixtures

@MainActor @Suite(.bounded, .timeLimit(.minutes(2)))
struct PaginationTests {
    private let environment = MockEnvironment()
    private let evaluations = Evaluations()

    private func show() throws -> Pilot {
        environment.mockResponse(UserQuery(id: "me"), Payloads.page(0..<2, of: 7))
        return Pilot {
            TodoScreen(.networkOnly, evaluations).relayEnvironment(environment)
        }
    }

    @Test func pagesFollowUntilThereAreNoMore() async throws {
        let pilot = try show()
        #expect(pilot.text == "- todo 0\n- todo 1\nmore")
        pilot.press(.tab, .shift)
        pilot.press(.enter)
        await pilot.shows("- todo 0\n- todo 1\nloading more\nmore")
        await eventually { environment.waitingNames == ["ListPaginationQuery"] }
        // Another one is not begun meanwhile.
        pilot.press(.enter)
        #expect(environment.mostRecent?.variables["count"] == 3)
        try #require(environment.mostRecent).resolve(Payloads.page(2..<5, of: 7, as: "node"))
        await pilot.shows { $0.hasSuffix("- todo 4\nmore") }
        #expect(environment.mockNetwork.executionCount == 2)
        pilot.press(.enter)
        await eventually { environment.waitingNames == ["ListPaginationQuery"] }
        try #require(environment.mostRecent).resolve(Payloads.page(5..<7, of: 7, as: "node"))
        await pilot.shows { $0.hasSuffix("- todo 5\n- todo 6") }
    }

    @Test func aPageThatFailsLeavesTheList() async throws {
        let pilot = try show()
        pilot.press(.tab, .shift)
        pilot.press(.enter)
        await eventually { environment.waitingNames == ["ListPaginationQuery"] }
        try #require(environment.mostRecent).reject(URLError(.timedOut))
        await pilot.shows("- todo 0\n- todo 1\nmore")
    }

    @Test func whatIsInsertedLiveIsARowAtOnceAndTheOthersAreLeftAlone() throws {
        let pilot = try show()
        _ = evaluations.take()
        let frames = pilot.frameCount
        try environment.commitUpdate { store in
            let todo = store.create(dataID: "new", typeName: "Todo")
            todo["id"] = "new"
            todo["text"] = "live"
            todo["complete"] = true
            guard let user = store["U"],
                let connection = ConnectionHandler.default.getConnection(user, key: "List_todos")
            else { return }
            let edge = ConnectionHandler.default.createEdge(
                &store, connection: connection, node: todo, type: "TodoEdge")
            ConnectionHandler.default.insert(connection: connection, edge: edge)
        }
        #expect(pilot.text == "- todo 0\n- todo 1\nx live\nmore")
        #expect(evaluations.take() == ["rows": 1, "row": 1] && pilot.frameCount == frames + 1)
    }

    private struct Filtered: View {
        @Query<DoneQuery>(fetchPolicy: .storeOrNetwork) var query
        var body: some View {
            if let user = query.get(.init(complete: true)).data?.user { Rows(user: .init(user)) }
        }

        struct Rows: View {
            @PaginationFragment<Done_user> var user
            var body: some View {
                let ids = user?.todos?.edges?.compactMap { $0?.node?.id } ?? []
                Text(ids.joined(separator: " ") + (user?.hasNext ?? false ? " …" : ""))
                    .onKey("o") {
                        let user = user
                        Task { await user?.refetch(["complete": false]) }
                    }
                    .onKey("n") { user?.loadNext(1) }
            }
        }
    }

    @Test func aListRefetchedWithOtherVariablesIsShownWithThem() async throws {
        environment.mockResponse(DoneQuery(complete: true), Payloads.page(0..<1, of: 1))
        let pilot = Pilot { Filtered().relayEnvironment(environment) }
        #expect(pilot.text == "t0")
        pilot.press("o")
        await eventually { environment.waitingNames == ["DonePaginationQuery"] }
        #expect(environment.mostRecent?.variables["complete"] == false)
        #expect(pilot.text == "t0")
        try #require(environment.mostRecent).resolve(Payloads.page(1..<3, of: 4, as: "node"))
        await pilot.shows("t1 t2 …")
        // The next page is one of the list that is shown.
        pilot.press("n")
        await eventually { environment.waitingNames == ["DonePaginationQuery"] }
        #expect(environment.mostRecent?.variables["complete"] == false)
        #expect(environment.mostRecent?.variables["cursor"] == "2")
        try #require(environment.mostRecent).resolve(Payloads.page(3..<4, of: 4, as: "node"))
        await pilot.shows("t1 t2 t3")
    }

    // MARK: Refetching

    private struct Refetched: View {
        @Query<DoneQuery>(fetchPolicy: .storeOrNetwork) var query
        var body: some View {
            if let user = query.get(.init(complete: true)).data?.user { Ids(user: .init(user)) }
        }

        struct Ids: View {
            @RefetchableFragment<Done_user> var user
            @State private var failure = ""
            var body: some View {
                let ids = user?.todos?.edges?.compactMap { $0?.node?.id } ?? []
                Text(ids.joined(separator: " ") + failure)
                    .onKey("o") {
                        let user = user
                        Task {
                            let error = await user?.refetch(["complete": false])
                            failure = error == nil ? "" : ", failed"
                        }
                    }
            }
        }
    }

    @Test func aFragmentIsRefetchedAndAFailureLeavesWhatIsThere() async throws {
        environment.mockResponse(DoneQuery(complete: true), Payloads.page(0..<1, of: 1))
        let pilot = Pilot { Refetched().relayEnvironment(environment) }
        #expect(pilot.text == "t0")
        pilot.press("o")
        await eventually { environment.waitingNames == ["DonePaginationQuery"] }
        try #require(environment.mostRecent).reject(URLError(.timedOut))
        await pilot.shows("t0, failed")
        pilot.press("o")
        await eventually { environment.waitingNames == ["DonePaginationQuery"] }
        try #require(environment.mostRecent).resolve(Payloads.page(1..<2, of: 2, as: "node"))
        await pilot.shows("t1")
        // What it was refetched with is kept from being collected, and followed.
        environment.store.collectGarbage()
        #expect(pilot.text == "t1")
    }

    private struct Searched: View {
        @Query<DoneQuery>(fetchPolicy: .storeOrNetwork) var query
        var body: some View {
            if let user = query.get(.init(complete: true)).data?.user { Ids(user: .init(user)) }
        }

        struct Ids: View {
            @RefetchableFragment<Done_user> var user
            @State private var ended = 0
            var body: some View {
                let ids = user?.todos?.edges?.compactMap { $0?.node?.id } ?? []
                Text(ids.joined(separator: " ") + ", \(ended) ended")
                    .onKey("o") { refetch(false) }
                    .onKey("d") { refetch(true) }
            }

            private func refetch(_ complete: Bool) {
                let user = user
                Task {
                    await user?.refetch(["complete": complete])
                    ended += 1
                }
            }
        }
    }

    @Test func theRefetchThatWasAskedForLastIsShownWhateverComesLast() async throws {
        environment.mockResponse(DoneQuery(complete: true), Payloads.page(0..<1, of: 1))
        let pilot = Pilot { Searched().relayEnvironment(environment) }
        #expect(pilot.text == "t0, 0 ended")
        pilot.press("o")
        await eventually { environment.waitingNames == ["DonePaginationQuery"] }
        let first = try #require(environment.mostRecent)
        pilot.press("d")
        // The one that nobody waits for any more is cancelled.
        await eventually {
            environment.mockNetwork.requests.map { $0.variables["complete"] } == [true]
        }
        await pilot.shows("t0, 1 ended")
        try #require(environment.mostRecent).resolve(Payloads.page(5..<6, of: 6, as: "node"))
        await pilot.shows("t5, 2 ended")
        first.resolve(Payloads.page(1..<2, of: 2, as: "node"))
        pilot.press("o")
        await eventually { environment.waitingNames == ["DonePaginationQuery"] }
        #expect(pilot.text == "t5, 2 ended")
    }

    private struct Passing: View {
        @State private var isThere = true
        let evaluations: Evaluations
        var body: some View {
            Group {
                if isThere { TodoScreen(.networkOnly, evaluations) } else { Text("gone") }
            }
            .onKey("g") { isThere.toggle() }
        }
    }

    @Test func aPageIsCancelledWhenItsViewGoes() async throws {
        environment.mockResponse(UserQuery(id: "me"), Payloads.page(0..<2, of: 7))
        let pilot = Pilot { Passing(evaluations: evaluations).relayEnvironment(environment) }
        pilot.press(.tab, .shift)
        pilot.press(.enter)
        await eventually { environment.waitingNames == ["ListPaginationQuery"] }
        pilot.press("g")
        await eventually { environment.waitingNames.isEmpty }
    }
}
