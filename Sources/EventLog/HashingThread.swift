import Digests
import Threads

/// Hashes large batches while the thread that appends them goes on.
///
/// SHA-256 is the most expensive thing that happens to an event on its way to the disk. A small
/// batch is hashed where it is appended; a large one would keep its appender from preparing the
/// next, so a thread of its own hashes it while the appender computes the checksum and an earlier
/// frame syncs.
final class HashingThread: Sendable {
    /// Bytes to be hashed, and the hasher they go into; both belong to one frame under way.
    ///
    /// `@unchecked Sendable`: from ``offer(_:)`` until ``finish(_:)`` returns only the thread uses
    /// the hasher, and the frame neither changes nor frees the bytes.
    struct Job: @unchecked Sendable {
        let frame: ObjectIdentifier
        let bytes: UnsafeRawBufferPointer
        let hasher: SHA256
    }

    private struct State {
        var job: Job?
        var isStopped = false
    }

    private let state = Monitor(State())
    private let thread: BlockingThread

    init() {
        let state = state
        thread = BlockingThread {
            while let job = Self.nextJob(state) {
                job.hasher.update(job.bytes)
                state.update { $0.job = nil }
            }
        }
    }

    deinit { state.update { $0.isStopped = true } }

    /// Takes the job unless it is busy with another.
    func offer(_ job: Job) -> Bool {
        state.update { state in
            guard state.job == nil else { return false }
            state.job = job
            return true
        }
    }

    /// Waits until no job of this frame is left.
    func finish(_ frame: ObjectIdentifier) {
        state.wait { $0.job?.frame == frame ? nil : true }
    }

    private static func nextJob(_ state: Monitor<State>) -> Job? {
        state.wait { state -> Job?? in
            if let job = state.job { return .some(job) }
            return state.isStopped ? .some(nil) : nil
        }
    }
}
