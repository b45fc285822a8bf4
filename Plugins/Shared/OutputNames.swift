import Foundation

/// How the compiler calls the files that it writes for a target. It is a rule of its own, in RelayCompiler, which a plugin
/// cannot import; a test compares them.
enum OutputNames {
    static let suffix = ".graphql.swift"

    /// One for each source, and one for the schema's types.
    static func outputs(of sources: [URL]) -> [String] {
        let names = sources.map { "\($0.deletingPathExtension().lastPathComponent)\(suffix)" }
        return Set(names + ["Schema\(suffix)"]).sorted()
    }
}
