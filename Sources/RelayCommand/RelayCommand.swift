import ArgumentParser

@main
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "An event-sourced GraphQL server, its client and its replay tools.",
        version: "0.1.0")
}
