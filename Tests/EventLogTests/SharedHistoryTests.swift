import BoundedTesting
import DiskSimulation
import Testing
import Threads

@testable import EventLog

/// Logs that are copies of one journal which several processes write.
@Suite(.bounded) struct SharedHistoryTests {
    private let disk = SimulatedDisk()
    private let journal = FakeJournal()

    private func openCopy(
        _ directory: String = "log", epoch: UInt32 = 1, on other: SimulatedDisk? = nil
    ) throws -> EventLogWriter {
        var options = testOptions()
        options.durability = .none
        options.shared = SharedHistory(storeID: testStoreID, epoch: epoch, committer: journal)
        return try EventLogWriter.open(directory, options: options, fileSystem: other ?? disk)
    }

    @Test func aFrameIsInTheJournalBeforeItIsInTheCopy() throws {
        let log = try openCopy()
        journal.whenCommitting { #expect(log.head.sequence == 0) }
        try log.appendAndWait(testBatch(1...3))
        #expect(log.head.sequence == 3)
        #expect(journal.last?.chain == log.head.hash)
        log.close()
        let bytes = try #require(disk.contents(at: firstSegment))
        let frame = try #require(journal.frames.first)
        #expect(Array(bytes[SegmentHeader.size..<SegmentHeader.size + frame.count]) == frame)
    }

    @Test func copiesOfOneJournalHoldTheSameHistory() throws {
        let (one, other) = (try openCopy("one"), try openCopy("other"))
        try one.appendAndWait(testBatch(1...2))
        try other.adoptAndWait(whole(journal.frames))
        try other.appendAndWait(testBatch(3...3))
        try one.adoptAndWait(whole(journal.frames))
        try one.appendAndWait(testBatch(4...5))
        try other.adoptAndWait(whole(journal.frames))
        #expect(one.head == other.head)
        for log in [one, other] { log.close() }
        for name in ["one", "other"] {
            let reader = try EventLogReader(name, fileSystem: disk)
            #expect(try reader.allEvents() == recorded(1...5))
        }
    }

    @Test func whoIsOvertakenIsToldAndGoesOnBehindTheOthers() throws {
        let (one, other) = (try openCopy("one"), try openCopy("other"))
        try one.appendAndWait(testBatch(1...1))
        let error = #expect(throws: LogError.self) { try other.appendAndWait(testBatch(1...1)) }
        #expect(error?.code == .overtaken)
        #expect(
            error?.message
                == "Could not append event 1 to the shared journal: The journal is at event 1 already."
        )
        #expect(other.head.sequence == 0)
        #expect(try other.adoptAndWait(whole(journal.frames)).sequence == 1)
        try other.appendAndWait(testBatch(2...2))
        #expect(journal.frames.count == 2)
        for log in [one, other] { log.close() }
    }

    @Test func whatWasMadeBeforeAnothersFrameIsRefused() throws {
        let (one, other) = (try openCopy("one"), try openCopy("other"))
        try one.appendAndWait(testBatch(1...1))
        // Held up in the journal, so that the next append waits.
        let isHeld = Monitor(true)
        journal.whenCommitting { _ = isHeld.wait { $0 ? nil : true } as Bool }
        let results = Monitor<[LogError.Code?]>([])
        func append(_ number: UInt64) throws {
            try other.enqueue(testBatch(number...number), expecting: number) { result in
                let code = result.failure?.code
                results.update { $0.append(code) }
            }
        }
        try append(1)
        other.waitUntilTaken()
        try append(2)
        let adopted = Monitor<UInt64?>(nil)
        try other.adopt(whole(journal.frames)) { result in
            adopted.update { $0 = (try? result.get())?.sequence }
        }
        isHeld.update { $0 = false }
        let codes = results.wait { $0.count == 2 ? $0 : nil }
        #expect(codes == [.overtaken, .overtaken])
        #expect(adopted.wait { $0 } == 1)
        try other.appendAndWait(testBatch(2...2))
        #expect(other.head.sequence == 2)
        for log in [one, other] { log.close() }
    }

    @Test func anAdoptionTellsAppendsThatWaitThatTheStateHasPassed() throws {
        let log = try openCopy()
        try log.appendAndWait(testBatch(1...1))
        var queue = AppendQueue(head: log.head, maximumWaitingBytes: 1 << 20)
        _ = try queue.enqueue(testBatch(2...2), expecting: 2) { _, _ in }
        let later = LogHead(sequence: 4, epoch: 1, hash: log.head.hash)
        let waiters = queue.adopted(through: later, frames: 1, byteCount: 100)
        #expect(waiters.map(\.range) == [2...2])
        #expect(queue.nextSequence == 5)
        #expect(queue.takeGroup() == nil)
        log.close()
    }

    @Test func framesThatDoNotContinueTheCopyAreRefused() throws {
        let (one, other, third) = (try openCopy("one"), try openCopy("other"), FakeJournal())
        for number: UInt64 in 1...3 { try one.appendAndWait(testBatch(number...number)) }
        let frames = journal.frames
        func refusal(_ frames: [[UInt8]]) -> String? {
            do {
                try other.adoptAndWait(whole(frames))
                Issue.record("they are taken")
                return nil
            } catch let fault as FrameFault {
                return fault.sentence
            } catch {
                return "\(error)"
            }
        }
        #expect(refusal([frames[1]])?.contains("begins with event 2 instead of 1") == true)
        var changed = frames[0]
        changed[FrameLayout.headerSize + 20] ^= 1
        #expect(refusal([changed])?.contains("do not match their checksum") == true)
        #expect(refusal([Array(frames[0].dropLast(8))]) != nil)
        #expect(refusal([[]]) != nil)
        // The beginning of another history, of which each frame is valid.
        var options = testOptions()
        options.shared = SharedHistory(storeID: testStoreID, epoch: 1, committer: third)
        let stranger = try EventLogWriter.open("third", options: options, fileSystem: disk)
        try stranger.appendAndWait(testBatch(7...7))
        try stranger.appendAndWait(testBatch(8...8))
        #expect(refusal([frames[0], third.frames[1]])?.contains("chain hash") == true)
        // What came before the wrong one is here.
        #expect(other.head.sequence == 1)
        #expect(refusal([third.frames[0]])?.contains("chain hash") == true)
        try other.adoptAndWait(whole(frames))
        #expect(other.head == one.head)
        for log in [one, other, stranger] { log.close() }
    }

    @Test func aCopyThatWasKilledKeepsItsEpochAndTakesTheRestAgain() throws {
        let log = try openCopy("log", epoch: 3)
        for number: UInt64 in 1...3 { try log.appendAndWait(testBatch(number...number)) }
        let crashed = disk.crashed(.nothing)
        let copy = try openCopy("log", epoch: 3, on: crashed)
        #expect(copy.recovery.raisedEpoch == nil)
        #expect(copy.metadata.epoch == 3)
        #expect(copy.head.sequence < 3)
        try copy.adoptAndWait(whole(journal.frames))
        #expect(copy.head == log.head)
        try copy.appendAndWait(testBatch(4...4))
        copy.close()
        log.close()
    }

    @Test func aJournalWhoseHistoryBeganInAnEarlierEpochIsCopied() throws {
        let first = try openCopy("first", epoch: 1)
        try first.appendAndWait(testBatch(1...1))
        let later = try openCopy("later", epoch: 2)
        #expect(later.metadata.epoch == 2)
        try later.adoptAndWait(whole(journal.frames))
        try later.appendAndWait(testBatch(2...2))
        #expect(later.head.epoch == 2)
        later.close()
        let again = try openCopy("later", epoch: 2)
        #expect(again.head == later.head)
        again.close()
        first.close()
    }

    @Test func aCopyOfAnotherStoreIsNotTouched() throws {
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        log.close()
        var options = testOptions()
        options.shared = SharedHistory(
            storeID: StoreID(high: 1, low: 2), epoch: 1, committer: journal)
        let error = #expect(throws: LogError.self) {
            try EventLogWriter.open("log", options: options, fileSystem: disk)
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("give another directory") == true)
    }

    @Test func whatTheJournalDoesNotAnswerFreezesTheCopy() throws {
        let log = try openCopy()
        try log.appendAndWait(testBatch(1...1))
        journal.refuse(with: FrameRefusal(.unavailable, "It does not answer."))
        let busy = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(2...2)) }
        #expect(busy?.code == .unavailable)
        journal.refuse(with: nil)
        try log.appendAndWait(testBatch(2...2))
        journal.refuse(with: FrameRefusal(.unknown, "Given up."))
        let unknown = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3)) }
        #expect(unknown?.code == .outcomeUnknown)
        journal.refuse(with: nil)
        let later = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3)) }
        #expect(later?.code == .frozen)
        log.close()
    }

    @Test func aFrameThatOnlyTheJournalHasFreezesTheCopy() throws {
        let log = try openCopy()
        try log.appendAndWait(testBatch(1...1))
        disk.setFault { $0.name == "pwrite" ? .error(SimulatedDisk.noSpace) : nil }
        let error = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(2...2)) }
        #expect(error?.code == .outcomeUnknown)
        #expect(journal.frames.count == 2)
        disk.setFault(nil)
        log.close()
        let again = try openCopy()
        try again.adoptAndWait(whole(journal.frames))
        #expect(again.head.sequence == 2)
        again.close()
    }
}

private func whole(_ frames: [[UInt8]]) throws -> [WholeFrame] {
    try frames.map { try WholeFrame($0) }
}

/// A journal in memory that takes whatever follows its last frame.
private final class FakeJournal: FrameCommitter {
    private struct State {
        var frames: [[UInt8]] = []
        var last: (sequence: UInt64, chain: ChainHash) = (0, .zero)
        var refusal: FrameRefusal?
        var whenCommitting: @Sendable () -> Void = {}
    }

    private let state = Lock(State())

    var frames: [[UInt8]] { state.withLock { $0.frames } }

    var last: (sequence: UInt64, chain: ChainHash)? {
        state.withLock { $0.frames.isEmpty ? nil : $0.last }
    }

    func refuse(with refusal: FrameRefusal?) { state.withLock { $0.refusal = refusal } }

    func whenCommitting(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenCommitting = action }
    }

    func commit(_ frame: SharedFrame) throws(FrameRefusal) {
        state.withLock { $0.whenCommitting }()
        let refusal = state.withLock { state -> FrameRefusal? in
            if let refusal = state.refusal { return refusal }
            guard frame.sequences.lowerBound == state.last.sequence + 1,
                frame.previousChain == state.last.chain
            else {
                return FrameRefusal(
                    .overtaken, "The journal is at event \(state.last.sequence) already.")
            }
            state.frames.append(Array(frame.bytes))
            state.last = (frame.sequences.upperBound, frame.chain)
            return nil
        }
        if let refusal { throw refusal }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
