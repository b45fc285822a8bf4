import ArgumentParser
import RelayCompiler
import RelayJSON

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One call of the command: reads files, compiles them, writes what has changed.
final class CompileRun {
    private let command: CompileCommand
    private let configuration: Configuration
    private let schema: [String]
    private let client: [String]
    private let out: String
    /// Whether a build plugin saw the schema files that the configuration names now. SwiftPM asks it again when files come
    /// and go, not when the contents of one change.
    private let isPlanned: Bool
    /// With `--check`: a file is missing, different, or should not be there.
    private(set) var isOutOfDate = false

    /// - Throws: if what the command or the configuration says is not enough, or not right.
    init(_ command: CompileCommand) throws {
        self.command = command
        let path = command.config ?? (ProjectFiles.exists("relay.json") ? "relay.json" : nil)
        var configuration = Configuration()
        if let path {
            configuration = try Configuration(parsing: try ProjectFiles.read(path), file: path)
        }
        if let access = command.access { configuration.access = access.access }
        self.configuration = configuration
        let folder = path.map(ProjectFiles.folder) ?? ""
        let configured = [configuration.schema, configuration.client].map { files in
            files.map { ProjectFiles.join(folder, $0) }
        }
        schema = command.schema.isEmpty ? configured[0] : command.schema
        client = command.client.isEmpty ? configured[1] : command.client
        if command.pluginOut != nil, !command.schema.isEmpty, !configuration.schema.isEmpty {
            let named = [command.schema, command.client]
            isPlanned = zip(configured, named).allSatisfy {
                $0.map(ProjectFiles.normalized) == $1.map(ProjectFiles.normalized)
            }
        } else {
            isPlanned = true
        }
        guard !schema.isEmpty else {
            throw ValidationError(
                "Name the server's schema: --schema FILE, or \"schema\" in relay.json. relay schema URL "
                    + "prints that of a running server.")
        }
        out = command.pluginOut ?? command.out ?? ProjectFiles.join(command.src[0], "__generated__")
    }

    /// Generates, and says what happened.
    /// - Returns: false if there were errors, which have been printed.
    func once() -> Bool {
        do {
            try report(try compile(try read()))
            return true
        } catch let failure as Compilation.Failure {
            say(failure)
        } catch {
            complain("error: \(error)")
        }
        return false
    }

    /// Generates, and again when a file has changed; does not return.
    func watch() -> Never {
        var last: Inputs?
        while true {
            // A file may be gone between listing and reading: the next look finds out.
            if let inputs = try? read(), inputs != last {
                last = inputs
                _ = once()
            } else if last == nil {
                _ = once()
            }
            usleep(300_000)
        }
    }

    // MARK: From files to files

    private struct Inputs: Equatable {
        var sources: [String: [UInt8]] = [:]
        var schema: [String: [UInt8]] = [:]
        var client: [String: [UInt8]] = [:]
    }

    private func read() throws -> Inputs {
        guard isPlanned else {
            throw FileFailure(
                "\(command.config ?? "relay.json") names other schema files than when this build was "
                    + "planned. Save Package.swift: then it is planned again.")
        }
        var inputs = Inputs()
        for path in schema { inputs.schema[path] = try ProjectFiles.read(path) }
        for path in client { inputs.client[path] = try ProjectFiles.read(path) }
        let other = Set((schema + client).map(ProjectFiles.normalized))
        let paths =
            command.pluginOut == nil
            ? try command.src.flatMap { try ProjectFiles.sources(in: $0, except: out) }
            : command.files
        for path in paths where !other.contains(ProjectFiles.normalized(path)) {
            inputs.sources[path] = try ProjectFiles.read(path)
        }
        return inputs
    }

    private func compile(_ inputs: Inputs) throws(Compilation.Failure) -> Compilation {
        func files(_ files: [String: [UInt8]]) -> [Compilation.InputFile] {
            files.sorted { $0.key < $1.key }.map { .init(name: $0.key, bytes: $0.value) }
        }
        return try Compilation(
            files(inputs.sources), schema: files(inputs.schema), client: files(inputs.client),
            layout: command.pluginOut == nil ? .byDefinition : .byFile,
            configuration: configuration,
            persists: command.persist != nil)
    }

    /// Writes what has changed, or none of it.
    private func report(_ compilation: Compilation) throws {
        let changes = try OutputChanges(
            compilation.files, in: out, keepsOthers: command.pluginOut != nil)
        var changed = changes.paths
        if let path = command.persist {
            let operations = try PersistedOperations(path, isWritten: !command.check)
            if let bytes = operations.adding(compilation.persisted) {
                changed.append(path)
                if !command.check { try operations.write(bytes) }
            }
        }
        if !command.check { try changes.write() }
        isOutOfDate = !changed.isEmpty || !changes.removed.isEmpty
        say(compilation, changed: changed, removed: changes.removed)
    }

    // MARK: What is printed

    private func say(_ compilation: Compilation, changed: [String], removed: [String]) {
        if command.json {
            let result: JSONValue = [
                "operations": .int(Int64(compilation.operationCount)),
                "fragments": .int(Int64(compilation.fragmentCount)),
                "files": .int(Int64(compilation.files.count)),
                "changed": .array(changed.map { .string($0) }),
                "removed": .array(removed.map { .string($0) }),
            ]
            return printAtOnce(result.text)
        }
        if command.check {
            for path in changed { complain("\(path) is not as it would be generated.") }
            for path in removed { complain("\(path) would not be generated any more.") }
        }
        // A build shows what its tools say; it is only interesting if there is something to do.
        if command.pluginOut != nil { return }
        let verb = command.check ? "differ" : "written"
        printAtOnce(
            """
            \(Self.count(compilation.operationCount, "operation")), \
            \(Self.count(compilation.fragmentCount, "fragment")): \
            \(Self.count(compilation.files.count, "file")), \(changed.count) \(verb)\
            \(removed.isEmpty ? "" : ", \(removed.count) \(command.check ? "too many" : "removed")").
            """)
    }

    private static func count(_ number: Int, _ name: String) -> String {
        "\(number) \(name)\(number == 1 ? "" : "s")"
    }

    private func say(_ failure: Compilation.Failure) {
        guard command.json else { return complain("\(failure)") }
        for diagnostic in failure.diagnostics {
            printAtOnce(JSONValue.object(diagnostic.json).text)
        }
    }
}
