import Foundation
import RelayStore
import Testing

@testable import RelayServer

/// Every queue has a bound with a name, and the page for users says the same as the code.
@Suite(.bounded) struct QueueBoundsTests {
    private func section(_ title: String) throws -> [Substring] {
        let file = URL(filePath: #filePath).appending(path: "../../../../docs/websocket.md")
            .standardized
        let page = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(page.range(of: "### \(title)\n")).upperBound
        let end = page.range(of: "\n##", range: start..<page.endIndex)?.lowerBound ?? page.endIndex
        return page[start..<end].split(separator: "\n").filter { $0.hasPrefix("| ") }
    }

    @Test func thePageNamesEveryQueueAndItsBound() throws {
        let rows = try section("Overload").dropFirst()
        let bounds = QueueBound.all()
        for bound in bounds {
            let row = "| \(bound.name) | \(bound.bound) | \(bound.atTheBound) |"
            #expect(rows.contains { $0 == row }, "docs/websocket.md lacks: \(row)")
        }
        #expect(rows.count == bounds.count, "the page names a queue that the code does not know")
    }

    @Test func thePageNamesWhatIsKeptOfMutationIDs() throws {
        let rows = try section("Mutation ids").joined(separator: "\n")
        let limits = MutationLedger.Limits()
        #expect(limits.answers == 1_000 && rows.contains("answers of a client | 1,000 |"))
        #expect(limits.ranges == 256 && rows.contains("numbers of a client | 256 |"))
        #expect(limits.bytes == 128 << 20 && rows.contains("everything together | 128 MiB |"))
        #expect(limits.clients == 100_000 && rows.contains("clients | 100,000 |"))
        #expect(limits.silentEvents == 100_000_000 && rows.contains("silent | 100,000,000 |"))
    }
}
