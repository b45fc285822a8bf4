package import Disk
import RelayJSON

/// The operations that were run, newest last, in memory and in a file.
@MainActor
package final class OperationHistory {
    private(set) var documents: [String] = []
    /// Where in the history the editor is; nil: at what is being written.
    private var place: Int?
    /// What was being written when somebody went back.
    private var draft = ""
    private let file: HistoryFile?
    /// Writes one after the other.
    private var writing: Task<Void, Never>?

    /// The oldest are forgotten beyond it.
    package static let limit = 500

    /// - Parameter file: where it is kept; nil: in memory only.
    package init(_ file: HistoryFile?) { self.file = file }

    /// Reads what earlier runs of the program have left.
    /// - Throws: why it cannot be read.
    func load() async throws {
        guard let file else { return }
        let earlier = try await file.read()
        documents = (earlier + documents).suffix(Self.limit)
    }

    /// - Returns: what to do once it is written.
    func append(_ document: String) {
        place = nil
        documents.removeAll { $0 == document }
        documents = (documents + [document]).suffix(Self.limit)
        guard let file else { return }
        let (documents, last) = (documents, writing)
        writing = Task {
            await last?.value
            // Who cannot write it has it until the program ends.
            try? await file.write(documents)
        }
    }

    /// Waits until all of it is in the file.
    package func settle() async { await writing?.value }

    /// - Parameter now: what is in the editor.
    /// - Returns: the document before the one that is shown; nil if there is none.
    func back(from now: String) -> String? {
        let next = (place ?? documents.count) - 1
        guard documents.indices.contains(next) else { return nil }
        if place == nil { draft = now }
        place = next
        return documents[next]
    }

    /// - Returns: the document after the one that is shown, at last what was being written.
    func forward() -> String? {
        guard let place else { return nil }
        let next = place + 1
        self.place = next < documents.count ? next : nil
        return next < documents.count ? documents[next] : draft
    }
}

/// A history in a file that only its owner can read: documents may hold secrets. A JSON string a line.
package struct HistoryFile: Sendable {
    private let files: any FileSystem
    private let directory: String
    private let name: String

    /// - Parameter directory: it is made if it is missing, with those above it.
    package init(_ files: any FileSystem, directory: String, name: String) {
        self.files = files
        self.directory = directory
        self.name = name
    }

    @concurrent
    func read() async throws -> [String] {
        // Lines that are none were not written by us, and are passed over.
        return try (files.contents(of: "\(directory)/\(name)") ?? [])
            .split(separator: UInt8(ascii: "\n"))
            .compactMap { try? JSONValue(parsing: $0).string }
    }

    @concurrent
    func write(_ documents: [String]) async throws {
        var path = ""
        for part in directory.split(separator: "/", omittingEmptySubsequences: false) {
            path += part
            if !path.isEmpty { try files.createDirectory(path) }
            path += "/"
        }
        let lines = documents.map { JSONValue.string($0).text + "\n" }.joined()
        try files.replaceFile(name, in: directory, with: Array(lines.utf8), as: .replacePrivate)
    }
}
