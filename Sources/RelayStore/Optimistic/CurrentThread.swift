@_spi(Rooms) import RelayRecords

#if canImport(Darwin)
    import Darwin

    /// A number that no other running thread has.
    package func currentThread() -> UInt { UInt(bitPattern: pthread_self()) }
#elseif canImport(Musl)
    import Musl

    /// A number that no other running thread has.
    package func currentThread() -> UInt { UInt(bitPattern: pthread_self()) }
#else
    import Glibc

    /// A number that no other running thread has.
    package func currentThread() -> UInt { UInt(pthread_self()) }
#endif
