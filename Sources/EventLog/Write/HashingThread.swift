import Digests
import Threads

/// Hashes large batches while the appending thread continues.
///
/// SHA-256 is the most expensive step for an event on its way to the disk. A small batch is hashed on the
/// appending thread. A large one would keep that thread from preparing the next batch, so a dedicated thread
/// hashes it while the appender computes the checksum and an earlier frame syncs.
final class HashingThread: Sendable {
    /// Bytes to be hashed, and the hasher to use; both belong to one frame in progress.
    ///
    /// `@unchecked Sendable`: from ``offer(_:)`` until ``finish(_:)`` returns, only the thread uses the
    /// hasher, and the frame neither changes nor frees the bytes.
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

    /// Takes the job unless it is busy with another one.
    func offer(_ job: Job) -> Bool {
        state.update { state in
            guard state.job == nil else { return false }
            state.job = job
            return true
        }
    }

    /// Waits until the thread has no job for this frame.
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
