package import Synchronization

/// State for one thread at a time: a `Synchronization.Mutex` that ThreadSanitizer understands.
///
/// On Linux a contended `Mutex` is handed over by the kernel, inside a library that is not instrumented: what it
/// orders looks like a race, in every program that uses ours. So the holder of the lock also reads, and at the end
/// writes, one byte for the sanitizer to see. On x86 that is two plain moves.
package struct Lock<Value: ~Copyable>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let order = Atomic<UInt8>(0)

    @inlinable
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Calls the body with exclusive access to the state.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) -> sending Result in
            _ = order.load(ordering: .acquiring)
            defer { order.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }

    /// The same, unless another thread holds the lock: then nil, at once.
    @inlinable
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable { value throws(Failure) -> sending Result in
            _ = order.load(ordering: .acquiring)
            defer { order.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension Lock: Sendable where Value: ~Copyable {}
