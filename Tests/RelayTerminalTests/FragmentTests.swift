import Foundation
import RelayStore
import RelayTerminal
import Testing
import Threads
import TodoFixtures

@MainActor @Suite(.bounded, .timeLimit(.minutes(2)))
struct FragmentTests {
    private let environment = MockEnvironment()
    private let evaluations = Evaluations()

    private func show(_ todos: some Sequence<Int>, of total: Int = 100) throws -> Pilot {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(todos, of: total))
        return Pilot(size: Size(width: 40, height: 60)) {
            TodoScreen(.storeOnly, evaluations).relayEnvironment(environment)
        }
    }

    private func rename(_ id: String, _ text: String) throws {
        try environment.commitUpdate { $0[DataID(id)]?["text"] = text }
    }

    @Test func aRowFollowsItsRecordAndNobodyElseIsEvaluated() throws {
        let pilot = try show(0..<3, of: 3)
        _ = evaluations.take()
        try rename("t1", "new")
        #expect(pilot.text == "- todo 0\n- new\n- todo 2")
        #expect(evaluations.take() == ["row": 1])
        let other = TodoQuery(id: "t1")
        try environment.cachePayload(
            other,
            #"{"data":{"node":{"__typename":"Todo","id":"t1","text":"newer","complete":true}}}"#)
        #expect(pilot.text == "- todo 0\nx newer\n- todo 2")
        #expect(evaluations.take() == ["row": 1])
    }

    @Test func aFieldThatNobodyReadsIsNoBodysBusiness() throws {
        let pilot = try show(0..<3, of: 3)
        let frames = pilot.frameCount
        _ = evaluations.take()
        let told = try environment.countTold { store in
            store["t1"]?["priority"] = 5
            store["U"]?["name"] = "Ada"
        }
        #expect(told == 0)
        // The same value again is no change.
        try rename("t1", "todo 1")
        #expect(pilot.text == "- todo 0\n- todo 1\n- todo 2")
        #expect(evaluations.take() == [:] && pilot.frameCount == frames)
    }

    @Test func aDeletedRecordHasNoData() throws {
        let pilot = try show(0..<2, of: 2)
        try environment.commitUpdate { $0.delete(dataID: "t0") }
        #expect(pilot.text == "- todo 1")
    }

    // MARK: One frame

    @Test func rowsThatOneCommitChangesAreOneFrame() throws {
        let pilot = try show(0..<40)
        let frames = pilot.frameCount
        _ = evaluations.take()
        try environment.commitUpdate { store in
            for id in 0..<40 { store[DataID("t\(id)")]?["text"] = "n\(id)" }
        }
        #expect(pilot.text.hasPrefix("- n0\n- n1\n") && pilot.text.contains("- n39"))
        #expect(pilot.frameCount == frames + 1)
        #expect(evaluations.take() == ["row": 40])
    }

    /// Another thread commits while frames are drawn: in each of them, all rows are of one commit.
    @Test func noFrameShowsHalfACommit() async throws {
        let pilot = try show(0..<40, of: 40)
        let environment = environment
        let progress = Progress()
        Thread.detachNewThread {
            var round = 0
            // Until many frames were drawn in between.
            while progress.frameCount.withLock({ $0 }) < 30, round < 1_000_000 {
                round += 1
                try? environment.commitUpdate { store in
                    for id in 0..<40 { store[DataID("t\(id)")]?["text"] = "\(round)" }
                }
            }
            progress.lastRound.withLock { [round] in $0 = round }
        }
        var torn: [String] = []
        await eventually {
            let text = pilot.text
            progress.frameCount.withLock { $0 = pilot.frameCount }
            let rows = Set(text.split(separator: "\n").map(String.init))
            if rows.count > 1, !rows.contains("- todo 1") { torn.append(text) }
            return progress.lastRound.withLock { $0 }.map { rows == ["- \($0)"] } ?? false
        }
        #expect(torn.isEmpty)
    }

    private final class Progress: Sendable {
        let frameCount = Lock(0)
        let lastRound = Lock<Int?>(nil)
    }

    // MARK: Keys

    private struct Chooser: View {
        @Query<UserQuery>(fetchPolicy: .storeOnly) var query
        @State private var index = 0
        let evaluations: Evaluations

        var body: some View {
            let user = query.get(.init(id: "me")).data?.user
            OneOf(user: user.map { .init($0) } ?? .init(), index: index, evaluations: evaluations)
                .onKey("n") { index += 1 }
        }
    }

    private struct OneOf: View {
        @Fragment<List_user> var user
        let index: Int
        let evaluations: Evaluations

        var body: some View {
            let nodes = user?.todos?.edges?.compactMap { $0?.node } ?? []
            TodoRow(todo: .init(nodes[index]), evaluations: evaluations)
        }
    }

    @Test func aViewThatIsGivenAnotherKeyFollowsTheOtherRecord() throws {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<3, of: 3))
        let pilot = Pilot { Chooser(evaluations: evaluations).relayEnvironment(environment) }
        #expect(pilot.text == "- todo 0")
        pilot.press("n")
        #expect(pilot.text == "- todo 1")
        _ = evaluations.take()
        #expect(try environment.countTold { $0["t0"]?["text"] = "old" } == 0)
        #expect(pilot.text == "- todo 1" && evaluations.take() == [:])
        try rename("t1", "still followed")
        #expect(pilot.text == "- still followed")
    }

    // MARK: Environments

    private struct Switching: View {
        let one: MockEnvironment
        let other: MockEnvironment
        let evaluations: Evaluations
        @State private var isOther = false

        var body: some View {
            TodoScreen(.storeOnly, evaluations)
                .relayEnvironment(isOther ? other : one)
                .onKey("s") { isOther.toggle() }
        }
    }

    @Test func viewsWithAnotherEnvironmentShowItsStore() throws {
        let other = MockEnvironment()
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<1, of: 1))
        try other.cachePayload(UserQuery(id: "me"), Payloads.page(0..<1, of: 1, complete: true))
        let pilot = Pilot {
            Switching(one: environment, other: other, evaluations: evaluations)
        }
        #expect(pilot.text == "- todo 0")
        pilot.press("s")
        #expect(pilot.text == "x todo 0")
        #expect(try environment.countTold { $0["t0"]?["text"] = "old" } == 0)
        try other.commitUpdate { $0["t0"]?["text"] = "new" }
        #expect(pilot.text == "x new")
    }

    // MARK: State

    private struct Counting: View {
        @Fragment<Item_todo> var todo
        @State private var count = 0
        var body: some View { Button("\(todo?.text ?? "") \(count)") { count += 1 } }
    }

    private struct CountingList: View {
        @Query<UserQuery>(fetchPolicy: .storeOnly) var query
        var body: some View {
            if let user = query.get(.init(id: "me")).data?.user { Rows(user: .init(user)) }
        }

        struct Rows: View {
            @Fragment<List_user> var user
            var body: some View {
                List(user?.todos?.edges?.compactMap { $0?.node } ?? []) {
                    Counting(todo: .init($0))
                }
            }
        }
    }

    @Test func rowsKeepTheirStateWhenTheListIsReordered() throws {
        try environment.cachePayload(UserQuery(id: "me"), Payloads.page(0..<3, of: 3))
        let pilot = Pilot { CountingList().relayEnvironment(environment) }
        pilot.press(.down)
        pilot.press(.enter)
        #expect(pilot.text == "todo 0 0\ntodo 1 1\ntodo 2 0")
        try environment.commitUpdate { store in
            guard let user = store["U"],
                let connection = ConnectionHandler.default.getConnection(user, key: "List_todos"),
                let edges = connection.getLinkedRecords("edges")
            else { return }
            connection.setLinkedRecords("edges", records: edges.reversed())
        }
        #expect(pilot.text == "todo 2 0\ntodo 1 1\ntodo 0 0")
        // The focus stays with its row as well.
        pilot.press(.enter)
        #expect(pilot.text == "todo 2 0\ntodo 1 2\ntodo 0 0")
    }
}
