package import EventLog
import PostgreSQL

/// Frames on their way into a journal, together or not at all.
package struct FrameBatch: Sendable {
    /// The most that one may have, in bytes: what PostgreSQL and libpq handle with memory to spare.
    package static let maximumBytes = 256 << 20

    let previous: UInt64
    let previousChain: ChainHash
    private(set) var firsts: [Int64] = []
    private(set) var lasts: [Int64] = []
    private(set) var chains: [[UInt8]] = []
    private(set) var contents: [[UInt8]] = []
    package private(set) var byteCount = 0

    package init(after head: LogHead) {
        previous = head.sequence
        previousChain = head.hash
    }

    init(_ frame: SharedFrame) {
        previous = frame.sequences.lowerBound - 1
        previousChain = frame.previousChain
        append(frame.sequences, frame.chain, Array(frame.bytes))
    }

    /// - Parameter frame: continues what is in the batch.
    package mutating func append(_ frame: WholeFrame) {
        append(frame.sequences, frame.chain, frame.bytes)
    }

    private mutating func append(
        _ sequences: ClosedRange<UInt64>, _ chain: ChainHash, _ bytes: [UInt8]
    ) {
        firsts.append(Int64(clamping: sequences.lowerBound))
        lasts.append(Int64(clamping: sequences.upperBound))
        chains.append(chain.bytes)
        contents.append(bytes)
        byteCount += bytes.count
    }

    package var isEmpty: Bool { firsts.isEmpty }
    package var count: Int { firsts.count }
    /// The first event.
    var first: UInt64 { previous + 1 }

    /// For `append` (``JournalTables``).
    func values(term: UInt64, connection: UInt64) -> [PostgreSQLValue] {
        [
            .int(Int64(clamping: term)), .int(Int64(clamping: connection)),
            .int(Int64(clamping: previous)), .bytes(previousChain.bytes), .ints(firsts),
            .ints(lasts), .byteStrings(chains), .byteStrings(contents),
        ]
    }
}
