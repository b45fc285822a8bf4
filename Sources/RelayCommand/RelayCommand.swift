import ArgumentParser
import Console
import RelayBenchmarks

@main
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "An event-sourced GraphQL server, its client, and its replay tools.",
        discussion: """
            Exit codes: 0 done, 1 failed (the reason is on standard error), 2 found a difference or \
            damage, 64 wrong usage.
            """,
        version: "relay 0.1.0",
        subcommands: [
            Serve.self, Connect.self, Request.self, LogCommand.self, ReplayCommand.self,
            Diff.self, Blame.self, Bisect.self, WhatIf.self, SchemaCommand.self, Bench.self,
            Healthcheck.self,
        ])

    static func main() async {
        // A server that is stopped as soon as it is started stops in order, too.
        if CommandLine.arguments.dropFirst().first == "serve" { Interruption.hold() }
        await main(nil)
    }
}
