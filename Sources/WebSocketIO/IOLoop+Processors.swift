import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension IOLoop {
    /// How many processors this process may run on, at least one: those that `taskset` or a container's set of
    /// processors leaves it.
    package static var usableProcessors: Int {
        #if os(Linux)
            // A bit for each processor; room for 8,192.
            var allowed = [UInt64](repeating: 0, count: 128)
            let bytes = allowed.count * MemoryLayout<UInt64>.size
            if clws_sched_getaffinity(0, bytes, &allowed) == 0 {
                return max(1, allowed.reduce(0) { $0 + $1.nonzeroBitCount })
            }
        #endif
        return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
