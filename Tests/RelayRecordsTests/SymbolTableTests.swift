import Synchronization
import Testing

@_spi(Rooms) @testable import RelayRecords

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

    @Test func aNumberIsReusedAfterTwoSteps() {
        let table = SymbolTable()
        let texts =
            (0..<300).map { "a text that stands elsewhere \($0)" } + (0..<300).map { "t\($0)" }
        let numbers = texts.map(table.intern)
        let limit = table.watch()
        // Asked for since, added since, held fast, let go of since, needed by the caller.
        #expect(table.intern("t7") == numbers[307])
        let added = table.intern("new")
        let held = table.pin("t8")
        let letGo = table.pin("t9")
        table.unpin([letGo])
        let kept = Set([numbers[307], added, held, letGo, numbers[0]])
        let gone = table.withdraw(below: limit) { number, _ in number == numbers[0] }
        #expect(Set(gone) == Set(numbers).subtracting(kept))
        #expect(table.liveCount == kept.count)
        // Unfindable, and still legible to whoever has the number.
        #expect(table.find("t1") == nil && table.string(numbers[301]) == "t1")
        #expect(table.intern("t1") == added + 1)
        #expect(table.find("t8") == held && table.find("new") == added)
        table.vacate(gone)
        table.freeReplaced(table.replacedCount)
        let more = (0..<gone.count).map { "another text that stands elsewhere \($0)" }
        #expect(Set(more.map(table.intern)) == Set(gone))
        #expect(more.map(table.find).allSatisfy { $0 != nil })
        #expect(table.find("a text that stands elsewhere 1") == nil)
        #expect(table.string(numbers[0]) == texts[0] && table.find(texts[0]) == numbers[0])
        #expect(more.compactMap(table.find).map(table.string) == more)
        // Once held fast no longer, it goes like any other.
        table.unpin([held])
        let again = table.watch()
        #expect(
            table.withdraw(below: again) { _, text in !text.elementsEqual("t8".utf8) } == [held])
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
