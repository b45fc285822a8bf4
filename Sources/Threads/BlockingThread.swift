#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A number that no other running thread has.
package func currentThread() -> UInt {
    #if canImport(Glibc)
        UInt(pthread_self())
    #else
        UInt(bitPattern: pthread_self())
    #endif
}

/// Starts a dedicated thread, for work that blocks or that has to stay on one thread: neither may run on Swift's
/// cooperative pool. The thread ends when `body` returns; its resources are released automatically.
/// - Returns: 0, or the system's error number: then `body` does not run.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    switch makeThread(body) {
    case .success(let thread):
        pthread_detach(thread)
        return 0
    case .failure(let refusal): return refusal.number
    }
}

private struct ThreadRefusal: Error {
    let number: Int32
}

/// - Returns: a thread that must be joined or detached, once.
private func makeThread(
    _ body: @escaping @Sendable () -> Void
) -> Result<pthread_t, ThreadRefusal> {
    let work = Unmanaged.passRetained(ThreadWork(body))
    #if canImport(Glibc)
        var thread = pthread_t()
        let made: (Int32, pthread_t?) = (
            pthread_create(&thread, nil, { runThread($0) }, work.toOpaque()), thread
        )
    #else
        var thread: pthread_t?
        let made = (pthread_create(&thread, nil, { runThread($0) }, work.toOpaque()), thread)
    #endif
    guard made.0 == 0, let thread = made.1 else {
        work.release()
        return .failure(ThreadRefusal(number: made.0))
    }
    return .success(thread)
}

/// Carries a closure through the C thread interface.
private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().body() }
    return nil
}

/// A dedicated thread that others can wait for.
package final class BlockingThread: @unchecked Sendable {
    // Unchecked: a thread's identifier is a pointer on some systems. It is constant, and used once.

    private enum State {
        case running
        case joining
        case gone
    }

    private let thread: pthread_t
    private let state = Monitor(State.running)

    package init(_ body: @escaping @Sendable () -> Void) {
        switch makeThread(body) {
        case .success(let thread): self.thread = thread
        case .failure: preconditionFailure("the system gives no more threads")
        }
    }

    deinit { if state.withLock({ $0 == .running }) { pthread_detach(thread) } }

    /// Waits until the thread is gone: the body has returned, and per-thread resources of libraries are released.
    /// Several may wait. Not for the thread itself.
    package func join() {
        let isFirst = state.update { state in
            defer { if state == .running { state = .joining } }
            return state == .running
        }
        if isFirst {
            let failure = pthread_join(thread, nil)
            precondition(failure == 0, "a thread does not wait for itself")
            state.update { $0 = .gone }
        } else {
            state.wait { $0 == .gone ? true : nil }
        }
    }
}
