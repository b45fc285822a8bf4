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

/// Starts a thread of its own, for work that blocks or that has to stay on one thread: Swift's cooperative pool must
/// not be given either. The thread ends when `body` has returned; its resources are given back by themselves.
/// - Returns: 0, or the number of the system's error: then `body` does not run.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let work = Unmanaged.passRetained(ThreadWork(body))
    #if canImport(Glibc)
        var thread = pthread_t()
    #else
        var thread: pthread_t?
    #endif
    let failure = pthread_create(&thread, nil, { runThread($0) }, work.toOpaque())
    guard failure == 0 else {
        work.release()
        return failure
    }
    #if canImport(Glibc)
        pthread_detach(thread)
    #else
        if let thread { pthread_detach(thread) }
    #endif
    return 0
}

/// Carries a closure through the C interface of a thread.
private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().body() }
    return nil
}

/// A thread of its own that others can wait for.
package final class BlockingThread: Sendable {
    private let finished = Monitor(false)

    package init(_ body: @escaping @Sendable () -> Void) {
        let failure = startThread { [finished] in
            body()
            finished.update { $0 = true }
        }
        precondition(failure == 0, "the system gives no more threads")
    }

    /// Waits until the body has returned.
    package func join() {
        finished.wait { $0 ? true : nil }
    }
}
