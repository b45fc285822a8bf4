import RelayCompiler
import RelayJSON

/// What the command prints, as text or as JSON.
struct CompileReport {
    let isJSON: Bool
    let checks: Bool
    let isOfPlugin: Bool

    init(_ command: CompileCommand) {
        (isJSON, checks) = (command.json, command.check)
        isOfPlugin = command.pluginOut != nil
    }

    func say(_ compilation: Compilation, changed: [String], removed: [String]) {
        if isJSON {
            let result: JSONValue = [
                "operations": .int(Int64(compilation.operationCount)),
                "fragments": .int(Int64(compilation.fragmentCount)),
                "files": .int(Int64(compilation.files.count)),
                "changed": .array(changed.map { .string($0) }),
                "removed": .array(removed.map { .string($0) }),
            ]
            return printAtOnce(result.text)
        }
        if checks {
            for path in changed { complain("\(path) is not as it would be generated.") }
            for path in removed { complain("\(path) would not be generated any more.") }
        }
        // A build shows what its tools say; it is only interesting if there is something to do.
        if isOfPlugin { return }
        let verb = checks ? "differ" : "written"
        printAtOnce(
            """
            \(Self.count(compilation.operationCount, "operation")), \
            \(Self.count(compilation.fragmentCount, "fragment")): \
            \(Self.count(compilation.files.count, "file")), \(changed.count) \(verb)\
            \(removed.isEmpty ? "" : ", \(removed.count) \(checks ? "too many" : "removed")").
            """)
    }

    private static func count(_ number: Int, _ name: String) -> String {
        "\(number) \(name)\(number == 1 ? "" : "s")"
    }

    /// Says what has gone wrong, whatever it is.
    func say(_ error: any Error) {
        let failure =
            error as? Compilation.Failure ?? .init([Diagnostic("\(error)", at: nil)])
        guard isJSON else { return complain("\(failure)") }
        for diagnostic in failure.diagnostics {
            printAtOnce(JSONValue.object(diagnostic.json).text)
        }
    }

    /// Something that a person who watches wants to know; programs have results and errors.
    func note(_ text: String) {
        if !isJSON { printAtOnce(text) }
    }
}
