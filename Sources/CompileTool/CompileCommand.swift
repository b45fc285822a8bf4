package import ArgumentParser
import RelayCompiler

/// `relay compile`, and all of `relay-compiler`: from documents in Swift sources to Swift types.
package struct CompileCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract: "Generate Swift types for the GraphQL documents in Swift sources.",
        discussion: """
            Documents are literals, graphql(\"""…\"""), in .swift files, or .graphql files. What is wrong with \
            them is printed as compilers do it, all at once.

            relay.json, in the current folder or named by --config, may have the same settings: {"schema": \
            FILE, "client": [FILES], "scalars": {NAME: SWIFT TYPE}, "imports": [MODULES], "access": \
            "internal" | "package" | "public"}.

            Exit codes: 0 done, 1 errors in documents, settings or files, 2 with --check: the code is not up to \
            date, 64 wrong usage.
            """)

    @Option(help: "A file with the server's schema; may be repeated.")
    var schema: [String] = []

    @Option(help: "A file that extends the schema by what only clients know; may be repeated.")
    var client: [String] = []

    @Option(help: "A folder with Swift sources and .graphql files; may be repeated.")
    var src: [String] = []

    @Option(
        help: """
            The folder for the generated files, for this call alone. Default: __generated__ in the first source \
            folder.
            """
    )
    var out: String?

    @Option(help: "Who can see the types: internal, package or public.")
    var access: Access?

    @Option(help: "The settings of the project. Default: relay.json, if it is there.")
    var config: String?

    @Option(
        help: """
            Requests name their operations by ids; the ids and texts are added to this file, for relay serve \
            --persisted.
            """)
    var persist: String?

    @Flag(help: "Write nothing; exit code 2 if a file is not as it would be generated.")
    var check = false

    @Flag(
        help: """
            Generate again whenever a source, the schema, relay.json or a generated file changes, until the \
            command is stopped.
            """)
    var watch = false

    @Flag(help: "Print the result, or the errors, as JSON.")
    var json = false

    @Option(
        name: .customLong("plugin-out"),
        help: .init(
            "For build plugins: a folder for one file per source, and for those given as arguments only.",
            visibility: .hidden))
    var pluginOut: String?

    @ArgumentParser.Argument(help: .init("The sources of a build plugin.", visibility: .hidden))
    var files: [String] = []

    package init() {}

    package func run() throws {
        let report = CompileReport(self)
        do {
            try checkUsage()
            if watch {
                var watch = try CompileWatch(self)
                watch.watch()
            }
            let result = try CompileRun(self).generate(try CompileInputs(self))
            if check, result.wasOutOfDate { throw ExitCode(2) }
        } catch let code as ExitCode {
            throw code
        } catch let usage as ValidationError {
            // As text, the parser prints it with the usage of the command.
            guard json else { throw usage }
            report.say(usage)
            throw ExitCode.validationFailure
        } catch {
            report.say(error)
            throw ExitCode(1)
        }
    }

    private func checkUsage() throws {
        if pluginOut == nil, src.isEmpty {
            throw ValidationError("Name the sources: --src FOLDER.")
        }
        if pluginOut == nil, !files.isEmpty {
            throw ValidationError("Unexpected argument '\(files[0])'; folders are named by --src.")
        }
        if watch, check { throw ValidationError("--watch writes files, and --check does not.") }
    }
}

/// Who can see generated types, as the command line says it.
enum Access: String, ExpressibleByArgument, CaseIterable {
    case `internal`, package, `public`

    var access: GenerateOptions.Access {
        switch self {
        case .internal: .internal
        case .package: .package
        case .public: .public
        }
    }
}
