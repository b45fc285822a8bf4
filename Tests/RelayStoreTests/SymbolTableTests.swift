import RelayStore
import Synchronization
import Testing

@Suite(.bounded) struct SymbolTableTests {
    @Test func everyTextGetsOneNumberAndKeepsIt() {
        let table = SymbolTable()
        let texts =
            (0..<5_000).map { "text \($0)" } + ["", "é", String(repeating: "x", count: 70_000)]
        let numbers = texts.map(table.intern)
        #expect(Set(numbers).count == texts.count)
        #expect(texts.map(table.intern) == numbers)
        #expect(numbers.map(table.string) == texts)
        #expect(texts.map(table.find) == numbers)
        #expect(table.find("never seen") == nil)
    }

    @Test func manyThreadsThatAddTheSameTextsAgreeOnTheirNumbers() async {
        let table = SymbolTable()
        let numbers = await withTaskGroup(of: [UInt32].self) { group in
            for thread in 0..<4 {
                group.addTask {
                    let texts = (0..<5_000).map { "text \($0)" }
                    // Each from another end.
                    let order = thread % 2 == 0 ? texts : texts.reversed()
                    let found = order.map(table.intern)
                    return thread % 2 == 0 ? found : found.reversed()
                }
            }
            var all: [[UInt32]] = []
            for await found in group { all.append(found) }
            return all
        }
        #expect(Set(numbers).count == 1)
        #expect(Set(numbers.first ?? []).count == 5_000)
        #expect((numbers.first ?? []).enumerated().allSatisfy { table.string($1) == "text \($0)" })
    }

    /// Readers search and read while the writer adds and the hash table grows; run it under TSan.
    @Test func readersFindWhatWasPublishedWhileTheWriterGoesOn() async {
        let table = SymbolTable()
        let progress = Progress()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var isRight = true
                    while progress.published.load(ordering: .acquiring) < 20_000 {
                        let count = progress.published.load(ordering: .acquiring)
                        guard count > 0 else { continue }
                        let text = "text \(count - 1)"
                        isRight = isRight && table.find(text).map(table.string) == text
                    }
                    return isRight
                }
            }
            for index in 0..<20_000 {
                _ = table.intern("text \(index)")
                progress.published.store(index + 1, ordering: .releasing)
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

private final class Progress: Sendable {
    let published = Atomic<Int>(0)
}
