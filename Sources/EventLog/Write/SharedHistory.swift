import Digests
import Disk

/// A history in a journal that several processes write, and of which a log is a copy.
///
/// A log with one commits each frame to the journal before it writes it here, and takes the frames of other
/// writers from there (``EventLogWriter/adopt(_:completion:)``). So the copy is never ahead of the journal, and
/// what the copy lacks is fetched again: it needs no sync before it acknowledges, and no epoch of its own.
package struct SharedHistory: Sendable {
    package let storeID: StoreID
    /// The epoch of frames written from now on.
    package let epoch: UInt32
    package let committer: any FrameCommitter

    package init(storeID: StoreID, epoch: UInt32, committer: any FrameCommitter) {
        self.storeID = storeID
        self.epoch = epoch
        self.committer = committer
    }
}

/// Makes frames durable in a shared journal.
package protocol FrameCommitter: Sendable {
    /// Blocks until the frame is durable in the journal, or certainly not in it and never will be.
    ///
    /// Called by one thread, frame after frame. The frame's bytes are valid until it returns.
    func commit(_ frame: SharedFrame) throws(FrameRefusal)
}

/// A frame on its way into a shared journal.
package struct SharedFrame {
    package let sequences: ClosedRange<UInt64>
    /// The chain hash before it.
    package let previousChain: ChainHash
    package let chain: ChainHash
    /// The whole frame, as in a segment (docs/log-format.md).
    package let bytes: UnsafeRawBufferPointer
}

/// Why a frame is not in a shared journal.
package struct FrameRefusal: Error, Sendable, Hashable {
    package enum Code: Sendable {
        /// Another writer's frame stands in its place, or another writer has taken over.
        case overtaken
        /// The journal cannot take it now; it may later.
        case unavailable
        /// There is no room where the journal keeps its frames.
        case storageFull
        /// The wait was given up. Whether the frame is in the journal is not known.
        case unknown
    }

    package let code: Code
    /// One or more full sentences.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension LogError {
    init(_ refusal: FrameRefusal, of range: ClosedRange<UInt64>) {
        let code: Code =
            switch refusal.code {
            case .overtaken: .overtaken
            case .unavailable: .unavailable
            case .storageFull: .storageFull
            case .unknown: .outcomeUnknown
            }
        self.init(
            code, "Could not append \(range.eventWords) to the shared journal: \(refusal.message)")
    }

    /// The frame is in the shared journal, but not in the copy.
    static func copying(
        _ range: ClosedRange<UInt64>, to file: String, _ cause: FileSystemError
    ) -> LogError {
        LogError(
            .outcomeUnknown,
            "Could not write \(range.eventWords) to \(file): \(cause). The shared journal has what is missing "
                + "here; this copy takes no more events until it is reopened.", cause: cause)
    }

    static func adopting(
        after sequence: UInt64, in file: String, _ cause: FileSystemError
    ) -> LogError {
        LogError(
            cause.isStorageFull ? .storageFull : .inputOutput,
            "Could not write what the shared journal has after event \(sequence) to \(file): \(cause). "
                + "The journal keeps it.", cause: cause)
    }

    static func foreignFrame(_ fault: FrameFault, after sequence: UInt64) -> LogError {
        LogError(
            .conflict,
            "The shared journal's frame after event \(sequence) does not continue this copy: "
                + "\(fault.sentence). Nothing of it was written.")
    }

    static func otherHistory(_ directory: String, _ found: StoreID, _ expected: StoreID) -> LogError
    {
        LogError(
            .conflict,
            "\(directory) holds the store \(found), and the shared journal the store \(expected). "
                + "Nothing was changed; give another directory.")
    }
}

extension ClosedRange<UInt64> {
    /// "event 3", or "events 3 to 5".
    var eventWords: String {
        count == 1 ? "event \(lowerBound)" : "events \(lowerBound) to \(upperBound)"
    }
}
