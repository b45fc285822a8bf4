import Foundation
import RelayTerminal
import Testing
import TodoFixtures

@MainActor @Suite(.bounded, .timeLimit(.minutes(2)))
struct QueryTests {
    private let environment = MockEnvironment()
    private let evaluations = Evaluations()

    private func pilot(_ policy: FetchPolicy) -> Pilot {
        Pilot { TodoScreen(policy, evaluations).relayEnvironment(environment) }
    }

    private struct Refused: Error, CustomStringConvertible {
        var description: String { "refused" }
    }

    @Test func aQueryIsLoadingUntilItsAnswerIsThere() async throws {
        let pilot = pilot(.networkOnly)
        #expect(pilot.text == "loading")
        try #require(environment.mostRecent).resolve(Payloads.page(0..<2, of: 2))
        #expect(pilot.text == "- todo 0\n- todo 1")
        #expect(evaluations.take() == ["screen": 2, "rows": 1, "row": 2])
        // An answer from another thread is there without anybody asking.
        let other = self.pilot(.networkOnly)
        let request = try #require(environment.mostRecent)
        Thread.detachNewThread { request.resolve(Payloads.page(0..<1, of: 1)) }
        await other.settle { $0.text == "- todo 0" }
    }

    @Test func aFailureIsShownAndTheQueryCanBeTriedAgain() async throws {
        let pilot = pilot(.networkOnly)
        try #require(environment.mostRecent).reject(Refused())
        #expect(pilot.text == "failed: refused")
        pilot.press(.enter)
        await pilot.shows("loading")
        try #require(environment.mostRecent).resolve(Payloads.page(0..<1, of: 1))
        #expect(pilot.text == "- todo 0")
    }

    /// Each frame is looked at: what the store has is there from the first one on.
    @Test func whatTheStoreHasIsShownWithoutAFlash() throws {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<1, of: 1))
        let pilot = pilot(.storeAndNetwork)
        #expect(pilot.frameCount == 1 && pilot.text == "- todo 0")
        #expect(evaluations.take() == ["screen": 1, "rows": 1, "row": 1])
        // The same answer is nothing new.
        try #require(environment.mostRecent).resolve(Payloads.page(0..<1, of: 1))
        #expect(pilot.text == "- todo 0" && evaluations.take() == [:])
        #expect(pilot.frameCount == 1)
        let another = self.pilot(.storeAndNetwork)
        try #require(environment.mostRecent).resolve(Payloads.page(0..<2, of: 2))
        #expect(another.text == "- todo 0\n- todo 1")
        #expect(pilot.text == another.text)
    }

    @Test func dataStaysWhenTheNetworkFailsAndTheViewKnowsIt() throws {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<1, of: 1))
        let pilot = pilot(.storeAndNetwork)
        try #require(environment.mostRecent).reject(Refused())
        #expect(pilot.text == "- todo 0\nout of date")
    }

    @Test func thePoliciesAskWhomTheySay() throws {
        #expect(pilot(.storeOnly).text == "nobody" && environment.waitingNames.isEmpty)
        let first = pilot(.storeOrNetwork)
        #expect(first.text == "loading")
        try #require(environment.mostRecent).resolve(Payloads.page(0..<1, of: 1))
        #expect(first.text == "- todo 0")
        #expect(pilot(.storeOrNetwork).text == "- todo 0" && environment.waitingNames.isEmpty)
        #expect(pilot(.storeOnly).text == "- todo 0" && environment.waitingNames.isEmpty)
        let fetching = pilot(.networkOnly)
        #expect(fetching.text == "loading" && environment.waitingNames == ["UserQuery"])
    }

    private struct Choice: View {
        @State private var id = "me"
        @State private var key = 0
        let evaluations: Evaluations

        var body: some View {
            TodoScreen(.networkOnly, evaluations, id: id, fetchKey: key)
                .onKey("o") { id = "other" }
                .onKey("k") { key += 1 }
        }
    }

    @Test func otherVariablesAndAnotherKeyBeginTheQueryAnew() throws {
        let pilot = Pilot { Choice(evaluations: evaluations).relayEnvironment(environment) }
        let first = try #require(environment.mostRecent)
        #expect(first.variables.description == #"{id:"me"}"#)
        pilot.press("o")
        // The first one is cancelled: nobody wants its answer any more.
        #expect(environment.mockNetwork.requests.map(\.variables.description) == [#"{id:"other"}"#])
        first.resolve(Payloads.page(0..<2, of: 2))
        #expect(pilot.text == "loading")
        try #require(environment.mostRecent).resolve(Payloads.page(5..<6, of: 6, user: "V"))
        #expect(pilot.text == "- todo 5")
        pilot.press("k")
        #expect(pilot.text == "loading" && environment.waitingNames == ["UserQuery"])
        try #require(environment.mostRecent).resolve(Payloads.page(6..<7, of: 7, user: "V"))
        #expect(pilot.text == "- todo 6")
    }

    @Test func refetchingLeavesWhatIsThere() async throws {
        let pilot = Pilot { Refetching().relayEnvironment(environment) }
        try #require(environment.mostRecent).resolve(Payloads.page(0..<1, of: 1))
        #expect(pilot.text == "1, refetched 0")
        pilot.press("r")
        await eventually { !environment.waitingNames.isEmpty }
        #expect(pilot.text == "1, refetched 0")
        try #require(environment.mostRecent).resolve(Payloads.page(0..<2, of: 2))
        await pilot.shows("2, refetched 1")
    }

    private struct Refetching: View {
        @Query<UserQuery> var query
        @State private var count = 0

        var body: some View {
            Text("\(query.get(.init(id: "me")).data?.user?.totalCount ?? -1), refetched \(count)")
                .onKey("r") {
                    Task {
                        await query.refetch()
                        count += 1
                    }
                }
        }
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

    @Test func whatAViewBeganEndsWithIt() throws {
        let pilot = Pilot { Passing(evaluations: evaluations).relayEnvironment(environment) }
        #expect(environment.waitingNames == ["UserQuery"])
        pilot.press("g")
        #expect(pilot.text == "gone" && environment.waitingNames.isEmpty)
        pilot.press("g")
        try #require(environment.mostRecent).resolve(Payloads.page(0..<3, of: 3))
        #expect(pilot.text.hasPrefix("- todo 0"))
        pilot.press("g")
        _ = evaluations.take()
        let told = try environment.countTold { store in
            store.root.getLinkedRecord("user", args: ["id": "me"])?["totalCount"] = 77
            for id in 0..<3 { store[DataID("t\(id)")]?["text"] = "changed" }
        }
        #expect(told == 0)
        #expect(pilot.text == "gone" && evaluations.take() == [:])
    }

    private struct Live: View {
        @Query<LiveTodosQuery> var query
        var body: some View {
            Button("\(query.get().data?.user?.totalCount ?? -1) todos") {
                let query = query
                Task { await query.refetch() }
            }
            if let error = query.refreshError { Text("\(error)").frame(height: 1) }
        }
    }

    @Test func aLiveQueryThatTheServerEndsIsOutOfDate() async throws {
        let pilot = Pilot { Live().relayEnvironment(environment) }
        func count(_ number: Int) -> String {
            #"{"data":{"user":{"id":"U","totalCount":\#(number),"todos":null}}}"#
        }
        let request = try #require(environment.mostRecent)
        request.nextValue(Data(count(1).utf8))
        #expect(pilot.text == "1 todos")
        request.complete()
        #expect(pilot.text.hasPrefix("1 todos\nThe server has ended LiveTodosQuery"))
        pilot.press(.enter)
        await eventually { environment.waitingNames == ["LiveTodosQuery"] }
        try #require(environment.mostRecent).nextValue(Data(count(2).utf8))
        await pilot.shows("2 todos")
    }

    private struct Leaving: View {
        @State private var isGone = false
        let environment: MockEnvironment
        let evaluations: Evaluations
        var body: some View {
            TodoScreen(.networkOnly, evaluations)
                .relayEnvironment(isGone ? nil : environment)
                .onKey("g") { isGone = true }
        }
    }

    @Test func aQueryEndsWithItsEnvironment() {
        let pilot = Pilot { Leaving(environment: environment, evaluations: evaluations) }
        #expect(environment.waitingNames == ["UserQuery"])
        pilot.press("g")
        #expect(pilot.text.hasPrefix("failed: ") && environment.waitingNames.isEmpty)
    }

    @Test func withoutAnEnvironmentAQuerySaysSo() {
        let pilot = Pilot { TodoScreen(.networkOnly, evaluations) }
        #expect(pilot.text.hasPrefix("failed: "))
    }
}
