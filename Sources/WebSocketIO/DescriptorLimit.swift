#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Lets the process have as many descriptors as the system allows it, where it begins with fewer: each
/// connection is one.
///
/// Loops that are made later have room for all of them; those that are there already do not.
///
/// - Returns: how many it may have now, and a loop can serve.
@discardableResult
package func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(descriptorResource, &limit) == 0 else { return 0 }
    var raised = limit
    #if os(Linux)
        raised.rlim_cur = limit.rlim_max
    #else
        // More is refused there, even where the limit says "infinity".
        raised.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
    #endif
    if raised.rlim_cur > limit.rlim_cur, setrlimit(descriptorResource, &raised) == 0 {
        limit = raised
    }
    return Int(clamping: min(limit.rlim_cur, descriptorTableLimit))
}

#if canImport(Glibc)
    let descriptorResource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
    let descriptorResource = RLIMIT_NOFILE
#endif
