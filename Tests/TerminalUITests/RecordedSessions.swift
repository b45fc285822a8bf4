import BoundedTesting
import Foundation
import Testing

@testable import TerminalUI

/// Not a test: writes sessions for script/terminal-second-opinion.
@Suite struct RecordedSessions {
    private struct Frame: Encodable {
        let width: Int
        let height: Int
        let bytes: Data
        let rows: [String]
        /// Where the cursor is seen: column, row.
        let cursor: [Int]?
    }

    private struct Session: Encodable {
        let seed: UInt64
        let frames: [Frame]
    }

    static let variable = "RELAY_TERMINAL_SESSIONS"

    /// The variable says where to, and how many.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
    func write() throws {
        let words = ProcessInfo.processInfo.environment[Self.variable]?.split(separator: ":") ?? []
        guard words.count == 2, let count = Int(words[1]) else { return }
        let sessions = (0..<count).map { _ in session(.random(in: 0 ... .max)) }
        try JSONEncoder().encode(sessions).write(to: URL(fileURLWithPath: String(words[0])))
    }

    private func session(_ seed: UInt64) -> Session {
        var session = RandomSession(seed: seed, hasDisputed: false)
        var writer = FrameWriter(colors: session.random.pick([.none, .ansi16, .trueColor]))
        // As on every screen of ours. With wrapping, pyte takes an accent on a row's last letter to the next row, which
        // terminals do not.
        var modes = ScreenModes(wantsMouse: false)
        var start = modes.enter()
        let frames = (0..<30).map { _ -> Frame in
            defer { start = [] }
            _ = session.step()
            let size = session.buffer.size
            let cursor = session.cursor.flatMap { session.buffer.bounds.contains($0) ? $0 : nil }
            return Frame(
                width: size.width, height: size.height,
                bytes: Data(start + writer.frame(session.buffer, cursor: session.cursor)),
                rows: (0..<size.height).map(session.buffer.text(ofRow:)),
                cursor: cursor.map { [$0.column, $0.row] })
        }
        return Session(seed: seed, frames: frames)
    }
}
