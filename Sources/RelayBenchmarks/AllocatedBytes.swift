import Console

#if os(Linux)
    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// Memory that the program has in use: pages of it that are resident, as the kernel counts them.
    ///
    /// The C library's own count is not in the module that Swift imports.
    func allocatedBytes() -> Int {
        guard let text = try? readFile("/proc/self/statm", "memory") else { return 0 }
        let fields = text.split(separator: UInt8(ascii: " "))
        let pages = fields.count > 1 ? Int(String(decoding: fields[1], as: UTF8.self)) : nil
        return (pages ?? 0) * Int(getpagesize())
    }
#else
    import Darwin

    /// Memory that the program has in use: what was allocated and not freed.
    func allocatedBytes() -> Int {
        var statistics = malloc_statistics_t()
        malloc_zone_statistics(nil, &statistics)
        return Int(statistics.size_in_use)
    }
#endif
