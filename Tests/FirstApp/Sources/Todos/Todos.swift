import Foundation
import Relay
import RelayNetwork

private let query = graphql(
    """
    query TodosQuery @live {
      user { totalCount completedCount todos(first: 100) { edges { node { text complete } } } }
    }
    """)

extension Todos {
    static func show(_ environment: Environment) async throws {
        for try await result in environment.results(of: TodosQuery()) {
            guard let user = result.data?.user else { continue }
            print("\(user.completedCount) of \(user.totalCount) done")
            for edge in user.todos?.edges ?? [] {
                guard let todo = edge?.node else { continue }
                print(todo.complete ? "[x]" : "[ ]", todo.text)
            }
        }
    }
}

@main struct Todos {
    static func main() async throws {
        let url = ProcessInfo.processInfo.environment["TODOS_URL"]
        let environment = Environment(
            network: try WebSocketNetwork(url: url ?? "ws://127.0.0.1:8080/graphql"),
            store: Store())

        do {
            if let text = CommandLine.arguments.dropFirst().first {
                try await add(text, to: environment)
            } else {
                try await show(environment)
            }
        } catch {
            print(error)
        }
    }
}
