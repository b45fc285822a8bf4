import Foundation
import RelayTerminal
import Testing
import TodoFixtures

@MainActor @Suite(.bounded, .timeLimit(.minutes(2)))
struct MutationTests {
    private let environment = MockEnvironment()
    private let evaluations = Evaluations()

    private func show() throws -> Pilot {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<2, of: 2))
        return Pilot { TodoScreen(.storeOnly, evaluations).relayEnvironment(environment) }
    }

    @Test func theExpectedAnswerAndTheMarkAreOneFrameAndSoIsTheirEnd() throws {
        let pilot = try show()
        _ = evaluations.take()
        let frames = pilot.frameCount
        pilot.press(.enter)
        #expect(pilot.text == "x todo 0 …\n- todo 1")
        #expect(evaluations.take() == ["row": 1] && pilot.frameCount == frames + 1)
        try #require(environment.mostRecent).resolve(Payloads.status("t0", complete: true))
        #expect(pilot.text == "x todo 0\n- todo 1")
        #expect(evaluations.take() == ["row": 1] && pilot.frameCount == frames + 2)
    }

    @Test func aFailureRevertsWhatWasShown() throws {
        let pilot = try show()
        pilot.press(.enter)
        #expect(pilot.text == "x todo 0 …\n- todo 1")
        try #require(environment.mostRecent).reject(URLError(.notConnectedToInternet))
        #expect(pilot.text == "- todo 0\n- todo 1")
    }

    @Test func theMarkIsThereUntilTheLastOfThemEnds() throws {
        let pilot = try show()
        pilot.press(.enter)
        pilot.press(.enter)
        #expect(pilot.text == "- todo 0 …\n- todo 1")
        let requests = environment.mockNetwork.requests
        #expect(requests.count == 2)
        requests[0].resolve(Payloads.status("t0", complete: true))
        #expect(pilot.text == "- todo 0 …\n- todo 1")
        requests[1].resolve(Payloads.status("t0", complete: false))
        #expect(pilot.text == "- todo 0\n- todo 1")
    }

    /// Everything that the page names, in one call.
    private struct Everything: View {
        @Mutation<ChangeTodoStatusMutation> var change
        @State private var completed = ""
        let evaluations: Evaluations

        var body: some View {
            let _ = evaluations.note("everything")
            Button("change \(completed)") {
                change.commit(
                    variables: .init(input: .init(complete: true, id: "t0")),
                    optimisticResponse: [
                        "changeTodoStatus": ["todo": ["id": "t0", "complete": true]]
                    ],
                    optimisticUpdater: { store, data in
                        store["t1"]?["text"] = data == nil ? "no data" : "expected"
                    },
                    updater: { store, data in
                        store["t1"]?["text"] = data == nil ? "no data" : "answered"
                    },
                    completion: { result in
                        completed = (try? result.get()).map { _ in "done" } ?? "failed"
                    })
            }
        }
    }

    @Test func allArgumentsOfThePageDoWhatItSays() throws {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<2, of: 2))
        let pilot = Pilot {
            Group {
                Everything(evaluations: evaluations)
                TodoScreen(.storeOnly, evaluations)
            }
            .relayEnvironment(environment)
        }
        _ = evaluations.take()
        pilot.press(.enter)
        #expect(pilot.text == "change\nx todo 0\n- expected")
        // It did not ask whether the mutation is in flight.
        #expect(evaluations.take() == ["row": 2])
        try #require(environment.mostRecent).resolve(Payloads.status("t0", complete: true))
        #expect(pilot.text == "change done\nx todo 0\n- answered")
        pilot.press(.enter)
        try #require(environment.mostRecent).reject(URLError(.timedOut))
        #expect(pilot.text == "change failed\nx todo 0\n- answered")
    }

    private struct Passing: View {
        @State private var isThere = true
        let evaluations: Evaluations
        var body: some View {
            Group {
                if isThere { TodoScreen(.storeOnly, evaluations) } else { Text("gone") }
            }
            .onKey("g") { isThere.toggle() }
        }
    }

    @Test func aMutationGoesOnWhenItsViewIsGone() throws {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<2, of: 2))
        let pilot = Pilot { Passing(evaluations: evaluations).relayEnvironment(environment) }
        pilot.press(.enter)
        pilot.press("g")
        #expect(pilot.text == "gone")
        try #require(environment.mostRecent).resolve(Payloads.status("t0", complete: true))
        pilot.press("g")
        #expect(pilot.text == "x todo 0\n- todo 1")
    }

    // MARK: Threads

    private struct Counting: View {
        @Mutation<ChangeTodoStatusMutation> var change
        @State private var threads = ""
        let evaluations: Evaluations

        var body: some View {
            let _ = evaluations.note("counting")
            Button("done \(threads)\(change.isInFlight ? " …" : "")") {
                change.commit(
                    variables: .init(input: .init(complete: true, id: "t0")),
                    completion: { _ in
                        evaluations.note("completion")
                        threads += Thread.current.name == "network" ? "network" : "main"
                    })
            }
        }
    }

    @Test func anAnswerOfAnotherThreadIsToldToTheViewOnTheMainActor() async throws {
        let pilot = Pilot { Counting(evaluations: evaluations).relayEnvironment(environment) }
        pilot.press(.enter)
        #expect(pilot.text == "done  …")
        _ = evaluations.take()
        let request = try #require(environment.mostRecent)
        await onAThreadOfItsOwn { request.resolve(Payloads.status("t0", complete: true)) }
        await pilot.shows("done main")
        // What the completion sets and the end of the mark are one frame.
        #expect(evaluations.take() == ["counting": 1, "completion": 1])
    }

    @Test(arguments: [false, true])
    func aViewThatIsGoneIsToldToo(_ isScreenGone: Bool) async throws {
        var pilot: Pilot? = Pilot {
            PassingView(content: Counting(evaluations: evaluations)).relayEnvironment(environment)
        }
        pilot?.press(.enter)
        if isScreenGone { pilot = nil } else { pilot?.press("g") }
        let request = try #require(environment.mostRecent)
        await onAThreadOfItsOwn { request.resolve(Payloads.status("t0", complete: true)) }
        await eventually { evaluations.counts["completion"] == 1 }
    }

    private struct PassingView<Content: View>: View {
        @State private var isThere = true
        let content: Content
        var body: some View {
            Group {
                if isThere { content } else { Text("gone") }
            }
            .onKey("g") { isThere.toggle() }
        }
    }

    private func onAThreadOfItsOwn(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                body()
                continuation.resume()
            }
            thread.name = "network"
            thread.start()
        }
    }

    @Test func aValueThatIsAViewAtTwoPlacesHasAMarkAtEach() throws {
        let curious = Curious()
        let pilot = Pilot {
            VStack {
                curious
                curious
            }
            .relayEnvironment(environment)
        }
        pilot.press(.enter)
        #expect(pilot.text == "saving\nsave")
        let first = try #require(environment.mostRecent)
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(pilot.text == "saving\nsaving")
        first.resolve(Payloads.status("t0", complete: true))
        #expect(pilot.text == "save\nsaving")
    }

    // MARK: What waits, whoever has begun it

    private struct Waiting: View {
        @OptimisticEntries var entries
        let evaluations: Evaluations
        var body: some View {
            let _ = evaluations.note("waiting")
            Text("\(entries.count) wait, t0: \(entries.contains { $0.records.contains("t0") })")
        }
    }

    @Test func whatWaitsIsFollowedInTheFrameThatShowsIt() throws {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<2, of: 2))
        let pilot = Pilot {
            Group {
                TodoScreen(.storeOnly, evaluations)
                Waiting(evaluations: evaluations)
            }
            .relayEnvironment(environment)
        }
        #expect(pilot.text == "- todo 0\n- todo 1\n0 wait, t0: false")
        _ = evaluations.take()
        let frames = pilot.frameCount
        pilot.press(.enter)
        #expect(pilot.text == "x todo 0 …\n- todo 1\n1 wait, t0: true")
        #expect(evaluations.take() == ["row": 1, "waiting": 1] && pilot.frameCount == frames + 1)
        try environment.commitUpdate { $0["t1"]?["text"] = "new" }
        #expect(pilot.text == "x todo 0 …\n- new\n1 wait, t0: true")
        #expect(evaluations.take() == ["row": 1])
        try #require(environment.mostRecent).resolve(Payloads.status("t0", complete: true))
        #expect(pilot.text == "x todo 0\n- new\n0 wait, t0: false")
        #expect(evaluations.take() == ["row": 1, "waiting": 1] && pilot.frameCount == frames + 3)
    }

    // MARK: What others wait for

    /// A live list that says of whom its rows are.
    private struct Rows: View {
        @Query<LiveTodosQuery> var query
        @OthersOptimisticRecords var others
        let evaluations: Evaluations
        var body: some View {
            let _ = evaluations.note("rows")
            ForEach(query.get().data?.user?.todos?.edges?.compactMap { $0?.node } ?? []) { todo in
                Text("\(todo.text)\(others.contains(DataID(todo.id)) ? " expected" : "")")
            }
        }
    }

    private struct Leaving: View {
        @OthersOptimisticRecords var others
        @State private var isThere = true
        let evaluations: Evaluations
        var body: some View {
            Group {
                Text("\(others.count)")
                if isThere { Rows(evaluations: evaluations) }
            }
            .onKey("g") { isThere.toggle() }
        }
    }

    @Test func whatOthersExpectIsMarkedInTheFrameThatShowsIt() throws {
        func result(_ texts: [String], _ others: [String]) -> Data {
            let edges = texts.map {
                #"{"node":{"__typename":"Todo","id":"\#($0)","text":"\#($0)","complete":false}}"#
            }
            let relay = others.isEmpty ? "" : #""optimistic":true,"optimisticRecords":\#(others)"#
            return Data(
                """
                {"data":{"user":{"id":"U","totalCount":1,"todos":{"edges":[\(edges.joined(separator: ","))]}}},\
                "extensions":{"relay":{\(relay)}}}
                """.utf8)
        }
        let pilot = Pilot { Leaving(evaluations: evaluations).relayEnvironment(environment) }
        let request = try #require(environment.mostRecent)
        request.nextValue(result(["a"], []))
        #expect(pilot.text == "0\na")
        let frames = pilot.frameCount
        _ = evaluations.take()
        request.nextValue(result(["a", "b"], ["b"]))
        #expect(pilot.text == "1\na\nb expected" && pilot.frameCount == frames + 1)
        #expect(evaluations.take() == ["rows": 1])
        // It comes true as it is: nothing else changes.
        request.nextValue(result(["a", "b"], []))
        #expect(pilot.text == "0\na\nb" && pilot.frameCount == frames + 2)
        request.nextValue(result(["a", "b"], ["a"]))
        #expect(pilot.text == "1\na expected\nb")
        // Nobody says any more what becomes of it.
        pilot.press("g")
        #expect(pilot.text == "0")
    }

    // MARK: Reading outside of the body

    private struct Curious: View {
        @Mutation<ChangeTodoStatusMutation> var change
        var body: some View {
            Button(change.isInFlight ? "saving" : "save") {
                change.commit(
                    variables: .init(input: .init(complete: true, id: "t0")),
                    completion: { _ in _ = change.isInFlight })
                _ = change.isInFlight
            }
            .onKey("r") { _ = change.isInFlight }
        }
    }

    @Test func whatAnActionReadsIsNotWhatTheViewShows() throws {
        let pilot = Pilot { Curious().relayEnvironment(environment) }
        #expect(pilot.text == "save")
        pilot.press(.enter)
        #expect(pilot.text == "saving")
        pilot.press("r")
        try #require(environment.mostRecent).resolve(Payloads.status("t0", complete: true))
        pilot.press("r")
        #expect(pilot.text == "save")
    }
}
