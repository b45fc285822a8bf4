import Foundation
import RelayNetwork
import RelayTerminal
import Testing
import TodoFixtures
import TodoService

/// Views against the server, in one process.
@MainActor @Suite(.bounded, .timeLimit(.minutes(2)))
struct ServerTests {
    private func environment(_ service: TodoService) throws -> Relay.Environment {
        let url = service.url.replacing("http://", with: "ws://")
        return Environment(network: try WebSocketNetwork(url: url), store: Store())
    }

    private struct LiveList: View {
        @Query<LiveTodosQuery> var query

        var body: some View {
            switch query.get() {
            case .loading: Text("loading")
            case .failure(let error): Text("failed: \(error)")
            case .success(let data):
                Text("\(data?.user?.totalCount ?? 0) todos")
                ForEach(data?.user?.todos?.edges?.compactMap { $0?.node } ?? []) { todo in
                    Text("\(todo.complete ? "x" : "-") \(todo.text)")
                }
            }
        }
    }

    @Test func aListIsFetchedAndAMutationIsAnswered() async throws {
        try await TodoService.run { service in
            let environment = try environment(service)
            let pilot = Pilot {
                TodoScreen(.networkOnly, Evaluations()).relayEnvironment(environment)
            }
            #expect(pilot.text == "loading")
            await pilot.shows("x Taste JavaScript\n- Buy a unicorn")
            pilot.press(.enter)
            // With the mark, unless the server has answered already.
            let shown = pilot.text.replacing(" …", with: "")
            #expect(shown == "- Taste JavaScript\n- Buy a unicorn")
            await pilot.shows("- Taste JavaScript\n- Buy a unicorn")
        }
    }

    @Test func twoScreensStayInStep() async throws {
        try await TodoService.run { service in
            let (one, other) = (try environment(service), try environment(service))
            let live = Pilot { LiveList().relayEnvironment(other) }
            await live.shows("2 todos\nx Taste JavaScript\n- Buy a unicorn")
            let pilot = Pilot {
                TodoScreen(.networkOnly, Evaluations()).relayEnvironment(one)
            }
            await pilot.shows("x Taste JavaScript\n- Buy a unicorn")
            pilot.press(.tab)
            pilot.press(.enter)
            await live.shows("2 todos\nx Taste JavaScript\nx Buy a unicorn")
        }
    }

    /// A live query goes on as long as its view.
    private struct Passing: View {
        @State private var isThere = true
        var body: some View {
            Group { if isThere { LiveList() } else { Text("gone") } }
                .onKey("g") { isThere.toggle() }
        }
    }

    @Test func aLiveQueryEndsWithItsView() async throws {
        try await TodoService.run { service in
            let environment = try environment(service)
            let pilot = Pilot { Passing().relayEnvironment(environment) }
            await pilot.shows("2 todos\nx Taste JavaScript\n- Buy a unicorn")
            let request = LiveTodosQuery().createDescriptor().request
            #expect(environment.isActive(request: request))
            pilot.press("g")
            #expect(pilot.text == "gone" && !environment.isActive(request: request))
        }
    }
}
