import RelayCompiler

/// One call of the command: reads files, compiles them, writes what has changed.
struct CompileRun {
    private let command: CompileCommand
    let report: CompileReport

    init(_ command: CompileCommand) {
        self.command = command
        report = CompileReport(command)
    }

    /// What has been generated, or would be.
    struct Result {
        /// By their paths, as they are now: a change by others can be told from this run's.
        let outputs: [String: FileStatus.Version?]
        /// Whether a file was missing, different, or should not have been there.
        let wasOutOfDate: Bool
    }

    /// Generates, and says what happened.
    /// - Parameter isQuiet: to say nothing if everything is as it should be.
    /// - Throws: what is wrong, which has not been printed.
    func generate(_ inputs: CompileInputs, isQuiet: Bool = false) throws -> Result {
        let compilation = try inputs.compiled(command)
        let out = inputs.settings.out
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
        var outputs = compilation.files.map { ProjectFiles.join(out, $0.name) }
        if let path = command.persist { outputs.append(path) }
        let result = Result(
            outputs: FileStatus.versions(of: outputs),
            wasOutOfDate: !changed.isEmpty || !changes.removed.isEmpty)
        if !isQuiet || result.wasOutOfDate {
            report.say(compilation, changed: changed, removed: changes.removed)
        }
        return result
    }
}
