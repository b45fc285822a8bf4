import ArgumentParser
import CompileTool
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
            Diff.self, Blame.self, Bisect.self, WhatIf.self, JournalCommand.self,
            CompileCommand.self,
            AccessCommand.self, SchemaCommand.self, Bench.self, Healthcheck.self,
            CompletionsCommand.self, ManualCommand.self,
        ])

    static func main() async {
        // A server that is stopped right after its start also shuts down gracefully.
        if CommandLine.arguments.dropFirst().first == "serve" { Interruption.hold() }
        await runCommand()
    }

    /// As the library does it, except that a command that finds only when it runs that it was called wrongly shows its own
    /// usage, not that of the program.
    private static func runCommand() async {
        var command: any ParsableCommand
        do {
            command = try await asyncParseAsRoot()
        } catch { exit(withError: error) }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ValidationError {
            exit(withError: error, usageOf: type(of: command))
        } catch { exit(withError: error) }
    }

    private static func exit(
        withError error: ValidationError, usageOf command: any ParsableCommand.Type
    ) -> Never {
        let usage = usageString(for: command)
        let names = usage.split(separator: " ").prefix { $0.first?.isLetter == true }
        complain(
            """
            Error: \(error.message)
            Usage: \(usage.replacing("\n", with: "\n       "))
              See '\(names.joined(separator: " ")) --help' for more information.
            """)
        exit(withError: ExitCode.validationFailure)
    }
}
