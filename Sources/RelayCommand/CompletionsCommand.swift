import ArgumentParser
import Console
import RelayJSON

/// `relay completions SHELL`
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print what a shell needs to complete commands and options.",
        discussion: """
            bash: relay completions bash > ~/.local/share/bash-completion/completions/relay. \
            zsh: relay completions zsh > DIR/_relay, with DIR in $fpath. \
            fish: relay completions fish > ~/.config/fish/completions/relay.fish.
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() throws {
        let completion: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        printAtOnce(RelayCommand.completionScript(for: completion) + "\n")
    }
}

/// `relay manual`
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Print the manual page, as man reads it.",
        discussion: "Read it with: relay manual | man -l -")

    func run() throws {
        let help = try JSONValue(parsing: Array(RelayCommand._dumpHelp().utf8))
        guard let command = help["command"] else {
            throw CommandFailure("The library's help has no command in it.")
        }
        printAtOnce(ManualPage(of: command, version: RelayCommand.configuration.version).text)
    }
}
