#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The most memory that this process has had in use so far, in bytes; 0 when the system does not say.
func peakMemoryBytes() -> UInt64 {
    var usage = rusage()
    // RUSAGE_SELF is 0 everywhere, but of another type on each system.
    guard getrusage(0, &usage) == 0 else { return 0 }
    #if canImport(Darwin)
        return UInt64(usage.ru_maxrss)
    #else
        return UInt64(usage.ru_maxrss) << 10
    #endif
}
