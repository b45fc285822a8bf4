#if canImport(Glibc)
    import Glibc

    /// Bytes that the program has allocated and not freed.
    func allocatedBytes() -> Int {
        let info = mallinfo2()
        return Int(info.uordblks) + Int(info.hblkhd)
    }
#else
    import Darwin

    /// Bytes that the program has allocated and not freed.
    func allocatedBytes() -> Int {
        var statistics = malloc_statistics_t()
        malloc_zone_statistics(nil, &statistics)
        return Int(statistics.size_in_use)
    }
#endif
