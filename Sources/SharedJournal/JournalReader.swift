import Digests
package import EventLog
import PostgreSQL

/// Reads a journal's frames in order, and checks that each follows from the one before.
///
/// Not Sendable: for one thread at a time.
package final class JournalReader {
    /// The head after the last frame that was returned.
    package private(set) var head: LogHead
    /// The newest term of a frame so far.
    package private(set) var term: UInt64
    /// How many frames were checked, and of how many bytes.
    package private(set) var frameCount: UInt64 = 0
    package private(set) var byteCount: UInt64 = 0
    private var knowsChain: Bool
    private let address: JournalAddress
    private let hasher = SHA256()

    /// How much one answer may hold, apart from a frame that is larger.
    private static let answerBytes: Int64 = 4 << 20
    private static let answerFrames: Int64 = 1_000

    /// From the beginning of a history.
    package convenience init(_ address: JournalAddress, of history: JournalHistory) {
        self.init(address, after: history.base.head, knowsChain: history.base.knowsChain)
    }

    /// - Parameters:
    ///   - head: after what is there already.
    ///   - term: the newest of a frame that is there, if that is known.
    package init(
        _ address: JournalAddress, after head: LogHead, knowsChain: Bool = true, term: UInt64 = 0
    ) {
        self.address = address
        self.head = head
        self.knowsChain = knowsChain
        self.term = term
    }

    /// The frames behind ``head``, as many as one answer holds; none if there are no more.
    /// - Throws: `damaged` if something is missing, or is not what was appended; `diverged` if the journal has nothing
    ///   of what the reader has; `unavailable`, `unknown`.
    package func next(by connection: JournalConnection) throws(SharedJournalError) -> [WholeFrame] {
        let rows = try connection.ask(
            """
            SELECT seq, last, term, chain, bytes FROM (
                SELECT *, sum(octet_length(bytes)) OVER (ORDER BY last) - octet_length(bytes) AS before
                FROM (
                    SELECT * FROM \(address.schema).frames WHERE last > $1 ORDER BY last LIMIT $2
                ) AS following
            ) AS measured WHERE before < $3 ORDER BY seq
            """,
            [
                .int(Int64(clamping: head.sequence)), .int(Self.answerFrames),
                .int(Self.answerBytes),
            ])
        var frames: [WholeFrame] = []
        for row in 0..<rows.count { frames.append(try frame(rows, row)) }
        return frames
    }

    private func frame(_ rows: PostgreSQLRows, _ row: Int) throws(SharedJournalError) -> WholeFrame
    {
        let (ends, term, chain, bytes) = try onServer { () throws(PostgreSQLError) in
            (
                (UInt64(clamping: try rows.int(row, 0)), UInt64(clamping: try rows.int(row, 1))),
                UInt64(clamping: try rows.int(row, 2)), try rows.bytes(row, 3),
                try rows.bytes(row, 4)
            )
        }
        let expected = head.sequence + 1
        let frame: WholeFrame
        do throws(FrameFault) {
            frame = try WholeFrame(bytes)
            try frame.check(after: head, knowsChain: knowsChain, hasher: hasher)
        } catch {
            throw .damaged(address, event: expected, error.sentence)
        }
        guard frame.sequences.lowerBound == ends.0, frame.sequences.upperBound == ends.1,
            frame.chain.bytes == chain
        else {
            throw .damaged(
                address, event: expected, "the frame's row does not say what the frame says")
        }
        guard term >= self.term else {
            throw .damaged(
                address, event: expected,
                "its term is \(term), and an earlier frame's is \(self.term)")
        }
        self.term = term
        knowsChain = true
        head = frame.head
        frameCount += 1
        byteCount += UInt64(bytes.count)
        return frame
    }
}

extension JournalConnection {
    /// The last event of the journal, and the hash of all of it; that of the beginning if there are no frames.
    package func head(of history: JournalHistory) throws(SharedJournalError) -> JournalHead {
        let rows = try ask(
            "SELECT last, chain, term FROM \(address.schema).frames ORDER BY seq DESC LIMIT 1")
        return try onServer { () throws(PostgreSQLError) in
            guard rows.count > 0 else {
                return JournalHead(
                    sequence: history.base.head.sequence, chain: history.base.head.hash, term: 0)
            }
            guard let chain = ChainHash(try rows.bytes(0, 1)) else {
                throw .unexpected("the chain hash has another length")
            }
            return JournalHead(
                sequence: UInt64(clamping: try rows.int(0, 0)), chain: chain,
                term: UInt64(clamping: try rows.int(0, 2)))
        }
    }

    /// The chain hash after an event; nil if no frame ends with it.
    package func chain(after sequence: UInt64) throws(SharedJournalError) -> ChainHash? {
        let rows = try ask(
            "SELECT chain FROM \(address.schema).frames WHERE last = $1",
            [.int(Int64(clamping: sequence))])
        return try onServer { () throws(PostgreSQLError) in
            rows.count > 0 ? ChainHash(try rows.bytes(0, 0)) : nil
        }
    }
}

/// How far a journal is.
package struct JournalHead: Sendable, Hashable {
    package let sequence: UInt64
    package let chain: ChainHash
    /// Of the last frame; 0 if there is none.
    package let term: UInt64
}
