import Console
import RelayJSON
import RelayLink

/// What one of our servers tells of a record: its fields, and who wrote them.
struct ServedRecord: Sendable {
    let id: String
    /// A line each; or why there are none.
    private let fields: Result<[String], any Error>
    private let writes: Result<[String], any Error>

    /// So many writes are asked for, the newest ones.
    private static let writeLimit = 200

    @concurrent
    static func asked(_ session: ServerSession, for id: String) async -> ServedRecord {
        ServedRecord(
            id: id,
            fields: await lines {
                let answer = try await session.history.lines(
                    of: .init("state", [("record", id)]), limit: 1)
                return answer.first?["fields"]?.object?
                    .map { "\($0.key): \(($0.value["value"] ?? $0.value).text)" } ?? []
            },
            writes: await lines {
                var lines: [String] = []
                let question = HistoryClient.Question(
                    "blame", [("record", id), ("limit", "\(writeLimit)")], form: .text)
                try await session.history.forEachPage(of: question) { page in
                    lines += page.lines
                    return lines.count < writeLimit
                }
                return lines
            })
    }

    private static func lines(
        _ body: () async throws -> [String]
    ) async -> Result<[String], any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    func add(to lines: inout ResultRows) {
        lines.add("\(id), as the server has it", .heading)
        Self.add(fields, to: &lines)
        lines.add("")
        lines.add("Who wrote it, newest first", .heading)
        Self.add(writes, to: &lines)
    }

    private static func add(_ result: Result<[String], any Error>, to lines: inout ResultRows) {
        switch result {
        case .success(let texts): for text in texts { lines.add(text) }
        case .failure(let error): lines.add("\(error)", .removed)
        }
    }
}
