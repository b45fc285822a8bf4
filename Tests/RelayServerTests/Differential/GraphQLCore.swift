import Foundation
import RelayJSON

/// graphql-core (Python) in a process of its own: what it makes of documents. Asking blocks until it answers, for a
/// minute at most.
final class GraphQLCore {
    /// A Python that has graphql-core: the one that `script/test` has set up, or RELAY_GRAPHQL_CORE.
    static var python: String? {
        let top = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        let made = (top + [".build", "graphql-core", "bin", "python"]).joined(separator: "/")
        let candidates = [ProcessInfo.processInfo.environment["RELAY_GRAPHQL_CORE"], made]
        return candidates.compactMap(\.self)
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer: [UInt8] = []

    /// - Parameter seed: the records, a line each, as a seed file has them.
    init(python: String, schema: String, seed: String) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "graphql_core_peer.py")
        process.executableURL = URL(filePath: python)
        process.arguments = [script.path(percentEncoded: false)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let records = try seed.split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
        _ = try ask(["schema": .string(schema), "seed": .array(records)])
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.terminate()
    }

    func answer(_ document: String) throws -> JSONValue {
        try ask(["document": .string(document)])
    }

    private func ask(_ question: JSONValue) throws -> JSONValue {
        try input.fileHandleForWriting.write(contentsOf: question.bytes + [UInt8(ascii: "\n")])
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[..<end]
                buffer.removeFirst(end + 1)
                return try JSONValue(parsing: line)
            }
            var end = pollfd(
                fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&end, 1, 60_000) > 0 else {
                throw TestFailure("graphql-core did not answer \(question.text) within a minute")
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw TestFailure("graphql-core has ended") }
            buffer += data
        }
    }
}
