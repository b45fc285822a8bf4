import ArgumentParser
import RelayCompiler

/// What the command and the project's `relay.json` say together.
struct CompileSettings: Equatable {
    let configuration: Configuration
    /// Files with the server's schema.
    let schema: [String]
    /// Files that extend it.
    let client: [String]
    /// The folder for generated files.
    let out: String

    /// - Throws: what is wrong with `relay.json`, or missing in both.
    init(_ command: CompileCommand) throws {
        let isThere = ProjectFiles.exists("relay.json") || FileStatus.isLink("relay.json")
        let path = command.config ?? (isThere ? "relay.json" : nil)
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
        let named = [command.schema, command.client]
        schema = named[0].isEmpty ? configured[0] : named[0]
        client = named[1].isEmpty ? configured[1] : named[1]
        guard !schema.isEmpty else {
            throw ValidationError(
                "Name the server's schema: --schema FILE, or \"schema\" in relay.json. relay schema URL "
                    + "prints that of a running server.")
        }
        out = command.pluginOut ?? command.out ?? ProjectFiles.join(command.src[0], "__generated__")
        // SwiftPM asks a plugin again when files come and go, not when the contents of one change.
        let isPlanned =
            command.pluginOut == nil || named[0].isEmpty || configured[0].isEmpty
            || zip(configured, named).allSatisfy {
                $0.map(ProjectFiles.normalized) == $1.map(ProjectFiles.normalized)
            }
        guard isPlanned else {
            throw FileFailure(
                "\(path ?? "relay.json") names other schema files than when this build was planned. "
                    + "Save Package.swift: then it is planned again.")
        }
    }
}

/// All that is compiled: equal inputs give the same files.
struct CompileInputs: Equatable {
    let settings: CompileSettings
    private var sources: [String: [UInt8]] = [:]
    private var schema: [String: [UInt8]] = [:]
    private var client: [String: [UInt8]] = [:]

    /// Reads all files.
    init(_ command: CompileCommand) throws {
        let settings = try CompileSettings(command)
        self.settings = settings
        for path in settings.schema { schema[path] = try ProjectFiles.read(path) }
        for path in settings.client { client[path] = try ProjectFiles.read(path) }
        let others = Set(
            (settings.schema + settings.client).compactMap { FileStatus($0)?.identity })
        let paths =
            command.pluginOut == nil
            ? try SourceWalk(command.src).files : command.files
        for path in paths {
            if let identity = FileStatus(path)?.identity, others.contains(identity) { continue }
            sources[path] = try ProjectFiles.read(path)
        }
    }

    func compiled(_ command: CompileCommand) throws(Compilation.Failure) -> Compilation {
        func files(_ files: [String: [UInt8]]) -> [Compilation.InputFile] {
            files.sorted { $0.key < $1.key }.map { .init(name: $0.key, bytes: $0.value) }
        }
        return try Compilation(
            files(sources), schema: files(schema), client: files(client),
            layout: command.pluginOut == nil ? .byDefinition : .byFile,
            configuration: settings.configuration, persists: command.persist != nil)
    }
}
