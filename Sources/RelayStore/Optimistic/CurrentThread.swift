#if canImport(Darwin)
    import Darwin

    /// A number that no other running thread has.
    package func currentThread() -> UInt { UInt(bitPattern: pthread_self()) }
#else
    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// A number that no other running thread has.
    package func currentThread() -> UInt { UInt(pthread_self()) }
#endif
