import Foundation
import PackagePlugin

/// What the compiler reads of one target, and what it writes for it.
struct CompiledTarget {
    /// All Swift sources and all `.graphql` documents, by path. Also sources without a document: SwiftPM asks a build-tool
    /// plugin again when files come and go, not when a document is added to an old file.
    let sources: [URL]
    /// `relay.json`.
    let configuration: URL
    /// The files with the server's schema, as the configuration names them.
    let schemas: [URL]
    /// The files with what only clients know.
    let clients: [URL]

    /// - Parameter documents: documents that SwiftPM does not know as files of the target.
    /// - Returns: nil if there is nothing to compile.
    init?(_ target: any SourceModuleTarget, in package: URL, documents: [URL] = []) throws {
        let files = (target.sourceFiles.map(\.url) + documents).filter { !$0.isGenerated }
        guard let configuration = Self.configuration(of: target, in: package) else {
            guard let document = files.first(where: \.mayHaveDocuments) else { return nil }
            let what =
                document.pathExtension == "graphql"
                ? "is a GraphQL file" : "seems to have GraphQL documents"
            throw Mistake(
                "\(document.path) \(what), and there is no \(Self.configurationName) that says for which "
                    + "schema. Write {\"schema\": \"schema.graphql\"} to "
                    + Self.configurations(of: target, in: package).map(\.path)
                    .joined(separator: " or ")
                    + "; the path is relative to that file.")
        }
        self.configuration = configuration
        let (schemas, clients) = try Self.schemas(of: configuration)
        (self.schemas, self.clients) = (schemas, clients)
        let paths = Set((schemas + clients).map(\.realPath))
        sources = files.filter {
            $0.pathExtension == "swift"
                || $0.pathExtension == "graphql" && !paths.contains($0.realPath)
        }.sorted { $0.path < $1.path }
        if sources.isEmpty { return nil }
    }

    static let configurationName = "relay.json"

    /// The target's own `relay.json`, or that beside `Package.swift`; nil if there is neither.
    static func configuration(of target: any SourceModuleTarget, in package: URL) -> URL? {
        configurations(of: target, in: package).first(where: \.isFile)
    }

    private static func configurations(
        of target: any SourceModuleTarget, in package: URL
    ) -> [URL] {
        [target.directoryURL, package].map { $0.appending(path: configurationName) }
    }

    /// Everything that the generated code depends on.
    var inputs: [URL] { [configuration] + schemas + clients + sources }

    /// The compiler's arguments to write the outputs of `sources` into a folder.
    func arguments(for sources: [URL], into folder: URL) -> [String] {
        schemas.flatMap { ["--schema", $0.path] } + clients.flatMap { ["--client", $0.path] }
            + ["--config", configuration.path, "--plugin-out", folder.path] + sources.map(\.path)
    }

    // MARK: The configuration

    /// Only what a plugin has to know in advance; the compiler reads the rest, and says what is wrong with it.
    private static func schemas(of file: URL) throws -> (server: [URL], client: [URL]) {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        } catch {
            throw Mistake("\(file.path) could not be read as JSON: \(error.localizedDescription)")
        }
        let members = value as? [String: Any] ?? [:]
        let files = { (name: String) -> [URL] in
            let paths = (members[name] as? String).map { [$0] } ?? members[name] as? [String] ?? []
            return paths.filter { !$0.isEmpty }.map {
                URL(filePath: $0, relativeTo: file).absoluteURL.standardizedFileURL
            }
        }
        let (schemas, clients) = (files("schema"), files("client"))
        guard !schemas.isEmpty else {
            throw Mistake(
                "\(file.path) does not say which schema documents are for. Add "
                    + "\"schema\": \"schema.graphql\"; the path is relative to \(file.path).")
        }
        for schema in schemas + clients where !schema.isFile {
            throw Mistake(
                "\(file.path) names the schema \(schema.path), and there is no such file.")
        }
        return (schemas, clients)
    }
}

/// Something that stops a plugin, in one sentence.
struct Mistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension URL {
    var isFile: Bool { FileManager.default.fileExists(atPath: path) }

    var realPath: String { resolvingSymlinksInPath().standardizedFileURL.path }

    /// Whether it has the name of a file that the compiler writes.
    var isGenerated: Bool { lastPathComponent.hasSuffix(OutputNames.suffix) }

    /// A guess for Swift sources: the compiler's scanner knows what is a comment. So does the compiler say what is wrong
    /// with a file that cannot be read.
    var mayHaveDocuments: Bool {
        switch pathExtension {
        case "graphql": return true
        case "swift":
            guard let text = try? Data(contentsOf: self) else { return true }
            return DocumentGuess.isLikely(in: text)
        default: return false
        }
    }
}
