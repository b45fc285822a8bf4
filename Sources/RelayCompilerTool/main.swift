import ArgumentParser
import CompileTool

/// `relay-compiler`: `relay compile` alone, for build plugins, which compile it and what it needs before a user's code.
struct RelayCompilerTool: ParsableCommand {
    static let configuration: CommandConfiguration = {
        var configuration = CompileCommand.configuration
        configuration.commandName = "relay-compiler"
        return configuration
    }()

    @OptionGroup var compile: CompileCommand

    func run() throws { try compile.run() }
}

RelayCompilerTool.main()
