import Foundation

/// A command of a console block in a page of the documentation, and the lines that it prints.
struct Transcript: Sendable {
    let command: String
    private(set) var output: [String] = []

    /// All commands in the console blocks of a page, in order.
    static func read(_ page: String) throws -> [Transcript] { try blocks(of: page).flatMap(\.self) }

    /// The commands in each console block of a page. A line that begins with `$ ` is a command; a line
    /// that is `…` stands for any lines.
    static func blocks(of page: String) throws -> [[Transcript]] {
        let path = Sandbox.repository + "/" + page
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.components(separatedBy: "```console\n").dropFirst().map { rest in
            var transcripts: [Transcript] = []
            for line in rest.components(separatedBy: "\n```")[0].components(separatedBy: "\n") {
                if line.hasPrefix("$ ") {
                    transcripts.append(Transcript(command: String(line.dropFirst(2))))
                } else if let last = transcripts.indices.last {
                    transcripts[last].output.append(line)
                }
            }
            return transcripts
        }
    }

    /// Whether these are the lines, but for what differs each time: times, hashes, new ids.
    func matches(_ lines: [String]) -> Bool {
        Self.matches(output.map(Self.general)[...], lines.map(Self.general)[...])
    }

    private static func matches(
        _ expected: ArraySlice<String>, _ lines: ArraySlice<String>
    ) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        let rest = expected.dropFirst()
        if first == "…" {
            return (0...lines.count).contains { matches(rest, lines.dropFirst($0)) }
        }
        return lines.first == first && matches(rest, lines.dropFirst())
    }

    static func general(_ line: String) -> String {
        line.replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/, with: "TIME")
            .replacing(/[0-9a-f]{64}/, with: "HASH")
            .replacing(/[0-9a-f]{32}/, with: "STORE")
            .replacing(/\b[0-9a-f]{8}\b/, with: "CHECKSUM")
            .replacing(/\b[0-9a-f]{16}:(\d+)/, with: { "CLIENT:\($0.1)" })
            .replacing(/VG9kbz[\w+=-]{10,}/, with: "NEW")
    }
}
