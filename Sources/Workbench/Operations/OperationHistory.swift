package import Disk
import Dispatch
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
    /// Told, once, that the file cannot be written.
    var note: (@MainActor (String) -> Void)?
    /// Writes one after the other.
    private var writing: Task<Void, Never>?

    /// The oldest are forgotten beyond it.
    package nonisolated static let limit = 500
    /// Longer documents, in bytes, are not remembered.
    nonisolated static let lengthLimit = 65_536

    /// - Parameter file: where it is kept; nil: in memory only.
    package init(_ file: HistoryFile?) { self.file = file }

    /// Reads what earlier runs of the program have left.
    /// - Throws: why it cannot be read.
    func load() async throws {
        guard let file else { return }
        let earlier = try await file.read()
        documents = Self.merged(earlier, documents)
    }

    /// Each document once, where it was run last.
    nonisolated static func merged(_ earlier: [String], _ later: [String]) -> [String] {
        (earlier.filter { !later.contains($0) } + later).suffix(limit)
    }

    /// Remembers what was run, or was put aside; nothing that is very long.
    func append(_ document: String) {
        place = nil
        if document.utf8.count > Self.lengthLimit { return }
        documents = Self.merged(documents, [document])
        guard let file else { return }
        let last = writing
        writing = Task { [weak self] in
            await last?.value
            do {
                try await file.append(document)
            } catch {
                self?.failed("The history could not be written. \(error)")
            }
        }
    }

    private func failed(_ reason: String) {
        note?(reason)
        note = nil
    }

    /// Waits until all of it is in the file, but not for ever.
    package func settle(for patience: Duration = .seconds(2)) async {
        guard let writing else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            await writing.value
            end.finish()
        }
        let clock = Task {
            try? await Task.sleep(for: patience)
            end.finish()
        }
        for await _ in ends {}
        waiting.cancel()
        clock.cancel()
    }

    /// The editor has something of its own again.
    func leave() { place = nil }

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

/// A history in a file that only its owner can read, as documents may hold secrets. Each line is a JSON string.
package struct HistoryFile: Sendable {
    private let files: any FileSystem
    private let directory: String
    private let name: String

    private static let byteLimit = OperationHistory.limit * OperationHistory.lengthLimit

    /// - Parameter directory: it is made if it is missing, with those above it.
    package init(_ files: any FileSystem, directory: String, name: String) {
        self.files = files
        self.directory = directory
        self.name = name
    }

    /// Where a disk that does not answer keeps nobody waiting but the history.
    private static let queue = DispatchQueue(label: "relay.connect-history", qos: .utility)

    private func onQueue<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    func read() async throws -> [String] { try await onQueue { try documents() } }

    private func documents() throws -> [String] {
        guard let bytes = try files.contents(of: "\(directory)/\(name)") else { return [] }
        // Only the end of a file that somebody else has made so long. Lines that are not ours are skipped.
        return bytes.suffix(Self.byteLimit).split(separator: UInt8(ascii: "\n"))
            .compactMap { try? JSONValue(parsing: $0).string }
    }

    /// Adds a document to what is there by now: other programs write, too. What cannot be read is not written over.
    func append(_ document: String) async throws {
        try await onQueue { try add(document) }
    }

    private func add(_ document: String) throws {
        var path = ""
        for part in directory.split(separator: "/", omittingEmptySubsequences: false) {
            path += part
            if !path.isEmpty { try files.createDirectory(path) }
            path += "/"
        }
        let documents = OperationHistory.merged(try documents(), [document])
        let lines = documents.map { JSONValue.string($0).text + "\n" }.joined()
        // A name of our own, for no two may write into one file.
        let aside = "\(path)\(name).\(UInt64.random(in: 0 ... .max))"
        let file = try files.open(aside, .replacePrivate)
        defer { file.close() }
        do throws(FileSystemError) {
            try file.writeAll(Array(lines.utf8), at: 0)
            try files.rename(aside, to: path + name)
        } catch {
            try? files.remove(aside)
            throw error
        }
    }
}
