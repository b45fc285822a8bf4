@_spi(Rooms) import RelayRecords

/// Remembers for records whether something is so: reading it counts no references.
///
/// A hash table with open addressing, at most half full. Copies share its memory, which one of them has to deallocate.
struct VerdictTable: BitwiseCopyable {
    /// 0 is free; else the record's number plus one, and its verdict in the lowest bit.
    private var slots: UnsafeMutablePointer<UInt64>?
    private var capacity = 0
    private var count = 0

    init() {}

    func deallocate() { slots?.deallocate() }

    @inline(__always)
    subscript(record: RecordIndex) -> Bool? {
        guard let slots else { return nil }
        var place = self.place(of: Self.key(record))
        while slots[place] != 0 {
            if slots[place] >> 1 == Self.key(record) { return slots[place] & 1 == 1 }
            place = (place + 1) & (capacity - 1)
        }
        return nil
    }

    /// - Precondition: the record is not in the table.
    mutating func insert(_ record: RecordIndex, _ verdict: Bool) {
        if 2 * (count + 1) > capacity { grow() }
        put(Self.key(record) << 1 | (verdict ? 1 : 0))
        count += 1
    }

    private static func key(_ record: RecordIndex) -> UInt64 { UInt64(record.rawValue) + 1 }

    private func place(of key: UInt64) -> Int {
        // The golden ratio spreads numbers that follow each other.
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & (capacity - 1)
    }

    private func put(_ slot: UInt64) {
        guard let slots else { return }
        var place = self.place(of: slot >> 1)
        while slots[place] != 0 { place = (place + 1) & (capacity - 1) }
        slots[place] = slot
    }

    private mutating func grow() {
        let old = self
        capacity = max(8, 2 * capacity)
        let new = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
        new.initialize(repeating: 0, count: capacity)
        slots = new
        guard let slots = old.slots else { return }
        for place in 0..<old.capacity where slots[place] != 0 { put(slots[place]) }
        slots.deallocate()
    }
}
