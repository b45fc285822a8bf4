import CLibwebsockets
import Synchronization

/// Work for the loop's thread, from every other thread.
///
/// What is posted while the thread is busy is run as one batch, and the thread is woken once per
/// batch. After `close()` nothing is taken any more.
final class Mailbox: Sendable {
    enum Command {
        case perform(@Sendable (LoopCore) -> Void)
        case job(UnownedJob)
    }

    /// Wakes the thread that serves a context.
    private struct Alarm: @unchecked Sendable {
        // Unchecked: an opaque handle, used for the one call that the library allows everywhere.
        let context: OpaquePointer

        func ring() { lws_cancel_service(context) }
    }

    private struct State {
        var commands: [Command] = []
        var isWakePending = false
        /// How to wake the thread, nil before `open` and after `close`.
        var alarm: Alarm?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// From now on a post wakes `context`. What was posted before is waiting.
    func open(waking context: OpaquePointer) {
        let alarm = Alarm(context: context)
        state.withLock { state in
            state.alarm = alarm
            if !state.commands.isEmpty {
                state.isWakePending = true
                alarm.ring()
            }
        }
    }

    /// Returns whether the command was taken; it will then run, in order.
    @discardableResult
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            state.commands.append(command)
            if !state.isWakePending, let alarm = state.alarm {
                state.isWakePending = true
                // Under the lock, because the context is destroyed right after `close`.
                alarm.ring()
            }
            return true
        }
    }

    /// What has been posted since the last call.
    func takeAll() -> [Command] {
        state.withLock { state in
            state.isWakePending = false
            if state.commands.isEmpty { return [] }
            let batch = state.commands
            state.commands = []
            state.commands.reserveCapacity(min(batch.count, 1_024))
            return batch
        }
    }

    /// Takes nothing any more, wakes nobody any more; returns what was still waiting.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            state.alarm = nil
            let rest = state.commands
            state.commands = []
            return rest
        }
    }
}
