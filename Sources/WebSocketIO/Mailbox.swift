import CLibwebsockets
import Threads

/// Work for the loop's thread, from every other thread.
///
/// What is posted while the thread is busy is run as one batch, and the thread is woken once per
/// batch. After `close()` nothing more is accepted.
final class Mailbox: Sendable {
    enum Command {
        case perform(@Sendable (LoopCore) -> Void)
        case job(UnownedJob)
    }

    /// Wakes the thread that looks into the mailbox.
    struct Alarm: @unchecked Sendable {
        // Unchecked: ev_async_send is libev's one call for other threads.
        let eventLoop: OpaquePointer
        let watcher: UnsafeMutablePointer<clws_async>

        func ring() { ev_async_send(eventLoop, &watcher.pointee.watcher) }
    }

    private struct State {
        var commands: [Command] = []
        var isWakePending = false
        /// How to wake the thread, nil before `open` and after `close`.
        var alarm: Alarm?
        var isClosed = false
    }

    private let state = Lock(State())

    /// From now on a post rings `alarm`. What was posted before is waiting.
    func open(ringing alarm: Alarm) {
        state.withLock { state in
            state.alarm = alarm
            if !state.commands.isEmpty {
                state.isWakePending = true
                alarm.ring()
            }
        }
    }

    /// Returns whether the command was accepted; it will then run, in order.
    @discardableResult
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            state.commands.append(command)
            if !state.isWakePending, let alarm = state.alarm {
                state.isWakePending = true
                // Under the lock, because the alarm is dismantled right after `close`.
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

    /// Takes nothing any more, wakes no thread any more; returns what was still waiting.
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
