import RelayNetwork
import RelayTerminal

@main struct TerminalTodos {
    @MainActor static func main() async {
        let url = CommandLine.arguments.dropFirst().first ?? "ws://127.0.0.1:8080/graphql"
        do {
            let environment = Environment(network: try WebSocketNetwork(url: url), store: Store())
            try await TerminalProgram.run { TodoScreen().relayEnvironment(environment) }
        } catch {
            print(error)
        }
    }
}
