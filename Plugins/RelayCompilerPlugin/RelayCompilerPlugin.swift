import Foundation
import PackagePlugin

/// Generates the Swift types of a target's GraphQL documents whenever the target is built (docs/compiler.md).
///
/// There is one command for a target, because documents spread each other's fragments. It rewrites only files whose
/// bytes change, so that an edit costs the compilation of few.
@main struct RelayCompilerPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        guard let compiled = try CompiledTarget(target, in: context.package.directoryURL) else {
            // SwiftPM plans the build again when a file comes into the target's folder, and only then.
            Diagnostics.warning(
                "Nothing is generated for target \(target.name): it has neither GraphQL documents nor "
                    + "\(target.directoryURL.appending(path: CompiledTarget.configurationName).path)."
            )
            return []
        }
        if let committed = target.sourceFiles.map(\.url).first(where: OutputNames.isOutput) {
            throw Mistake(
                "\(committed.path) would be compiled together with what the build generates. Remove "
                    + "the generated files from target \(target.name), or its plugin.")
        }
        let folder = context.pluginWorkDirectoryURL
        return [
            .buildCommand(
                displayName: "Compiling the GraphQL documents of \(target.name)",
                executable: try context.tool(named: "RelayCompilerTool").url,
                arguments: compiled.arguments(for: compiled.sources, into: folder),
                inputFiles: compiled.inputs,
                outputFiles: OutputNames.outputs(of: compiled.sources).map {
                    folder.appending(path: $0)
                })
        ]
    }
}
