import Foundation
import PackagePlugin

/// `swift package relay-compile [--target NAME]…`: generates the Swift types of GraphQL documents into the folders of
/// their targets, for those who commit them (docs/compiler.md).
@main struct RelayCompilePlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        var arguments = ArgumentExtractor(arguments)
        let names = arguments.extractOption(named: "target")
        guard arguments.remainingArguments.isEmpty else {
            throw Mistake(
                "Did not understand \(arguments.remainingArguments.joined(separator: " ")). "
                    + "Usage: swift package relay-compile [--target NAME]…")
        }
        let targets =
            names.isEmpty
            ? context.package.targets : try context.package.targets(named: names)
        let compiler = try context.tool(named: "RelayCompilerTool").url
        let package = context.package.directoryURL
        let all = targets.compactMap { $0 as? any SourceModuleTarget }
        let isConfigured = { CompiledTarget.configuration(of: $0, in: package) != nil }
        // Where no target has settings, those with documents lack them.
        let passesOver = names.isEmpty && all.contains(where: isConfigured)
        for target in all {
            if passesOver, !isConfigured(target) {
                print("\(target.name): nothing, without \(CompiledTarget.configurationName)")
                continue
            }
            let compiled = try CompiledTarget(
                target, in: package, documents: excludedDocuments(of: target))
            guard let compiled else {
                print("\(target.name): no documents")
                continue
            }
            try compile(compiled, target, with: compiler)
        }
    }

    /// SwiftPM warns about files that it has no use for, so that targets without the build plugin exclude them.
    private func excludedDocuments(of target: any SourceModuleTarget) -> [URL] {
        let known = Set(target.sourceFiles.map(\.url.realPath))
        let files = FileManager.default.enumerator(
            at: target.directoryURL, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        let documents = files?.compactMap { $0 as? URL }.filter { $0.pathExtension == "graphql" }
        return (documents ?? []).filter { !known.contains($0.realPath) }
    }

    private func compile(
        _ compiled: CompiledTarget, _ target: any SourceModuleTarget, with compiler: URL
    ) throws {
        let folder = target.directoryURL.appending(path: "__generated__")
        let sources = compiled.sources.filter(\.mayHaveDocuments)
        let written = sources.isEmpty ? [] : OutputNames.outputs(of: sources)
        if !sources.isEmpty {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let process = Process()
            process.executableURL = compiler
            process.arguments = compiled.arguments(for: sources, into: folder)
            try process.run()
            process.waitUntilExit()
            guard process.terminationReason == .exit, process.terminationStatus == 0 else {
                throw Mistake("The documents of target \(target.name) were not compiled.")
            }
        }
        try removeOthers(than: written, from: folder)
        print("\(target.name): \(written.count) files in \(folder.path)")
    }

    /// Generated code of documents that are gone. Files of the same kind of name that another program has made stay.
    private func removeOthers(than names: [String], from folder: URL) throws {
        guard folder.isFile else { return }
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        for file in files
        where !names.contains(file.lastPathComponent) && OutputNames.isOutput(file) {
            try FileManager.default.removeItem(at: file)
        }
    }
}
