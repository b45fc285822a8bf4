import Synchronization

/// An append-only table that gives every distinct text (a record id, a name) a small dense number.
///
/// One writer, any number of readers, no lock. Why that is safe:
/// 1. Texts and entries never move and never change: they live in blocks that are only ever added.
/// 2. A reader knows a number only from a snapshot that was handed to it after the entry was written,
///    or from a slot of the hash table, which is published with release order and read with acquire.
/// 3. A hash table that became too small is replaced, not rewritten, and lives on as long as this
///    table, so a reader may finish its search in the old one; it misses at most texts that were added
///    after its snapshot was taken.
///
/// The hash is seeded per table, so nobody outside can choose texts that collide.
package final class SymbolTable: @unchecked Sendable {
    // Unchecked: see the three rules above. Everything that is not atomic is the writer's alone,
    // or fixed before a reader can learn of it.

    private struct Entry {
        var bytes: UnsafePointer<UInt8>
        var count: Int
    }

    /// Blocks of entries; block k holds 256 << k of them, so number -> block is arithmetic.
    private let blocks: UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    private static let blockLimit = 25
    private static let firstBlockBits = 8

    private let slots: Atomic<UnsafeMutableRawPointer>
    private var retiredSlots: [UnsafeMutableRawPointer] = []
    private var slotCapacity: Int
    private let seed: UInt64

    private var arena: UnsafeMutablePointer<UInt8>
    private var arenaUsed = 0
    private var arenaSize = 1 << 12
    private var arenas: [UnsafeMutablePointer<UInt8>]

    /// Texts in the table; only the writer may ask.
    package private(set) var count = 0

    package init() {
        blocks = .allocate(capacity: Self.blockLimit)
        blocks.initialize(repeating: nil, count: Self.blockLimit)
        seed = UInt64.random(in: 0 ... .max)
        slotCapacity = 64
        slots = Atomic(Self.makeSlots(capacity: slotCapacity))
        arena = .allocate(capacity: arenaSize)
        arenas = [arena]
    }

    deinit {
        for block in 0..<Self.blockLimit { blocks[block]?.deallocate() }
        blocks.deallocate()
        slots.load(ordering: .relaxed).deallocate()
        for old in retiredSlots { old.deallocate() }
        for arena in arenas { arena.deallocate() }
    }

    // MARK: Reading

    /// The text with this number. The number must come from this table.
    @inline(__always)
    package func text(_ number: UInt32) -> UnsafeBufferPointer<UInt8> {
        let entry = self.entry(number)
        return UnsafeBufferPointer(start: entry.pointee.bytes, count: entry.pointee.count)
    }

    /// The text with this number, as a string.
    package func string(_ number: UInt32) -> String {
        String(decoding: text(number), as: UTF8.self)
    }

    /// The number of a text, or nil when the table does not have it.
    package func find(_ text: UnsafeBufferPointer<UInt8>) -> UInt32? {
        find(text, hash: hash(text)).number
    }

    package func find(_ text: String) -> UInt32? {
        var text = text
        return text.withUTF8 { find($0) }
    }

    // MARK: Writing

    /// The number of a text, which is added when it is new. Only the writer may call this.
    package func intern(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let hash = hash(text)
        let found = find(text, hash: hash)
        if let number = found.number { return number }
        precondition(count < Int(UInt32.max) - 1, "a symbol table holds at most 2^32 - 2 texts")
        let number = UInt32(count)
        append(Entry(bytes: copy(text), count: text.count))
        Self.slot(found.slot, in: slots.load(ordering: .relaxed)).pointee
            .store(Self.packed(hash: hash, number: number), ordering: .releasing)
        if count * 2 > slotCapacity { grow() }
        return number
    }

    package func intern(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { intern($0) }
    }

    // MARK: Entries

    @inline(__always)
    private func entry(_ number: UInt32) -> UnsafeMutablePointer<Entry> {
        let place = Int(number) + (1 << Self.firstBlockBits)
        let block = Int.bitWidth - 1 - place.leadingZeroBitCount - Self.firstBlockBits
        guard let entries = blocks[block] else {
            preconditionFailure("symbol \(number) was never handed out by this table")
        }
        return entries + (place - (1 << (block + Self.firstBlockBits)))
    }

    private func append(_ new: Entry) {
        let place = count + (1 << Self.firstBlockBits)
        let block = Int.bitWidth - 1 - place.leadingZeroBitCount - Self.firstBlockBits
        if blocks[block] == nil {
            blocks[block] = .allocate(capacity: 1 << (block + Self.firstBlockBits))
        }
        count += 1
        entry(UInt32(count - 1)).initialize(to: new)
    }

    private func copy(_ text: UnsafeBufferPointer<UInt8>) -> UnsafePointer<UInt8> {
        if arenaUsed + text.count > arenaSize {
            arenaSize = max(min(arenaSize * 2, 1 << 20), text.count)
            arena = .allocate(capacity: arenaSize)
            arenas.append(arena)
            arenaUsed = 0
        }
        let place = arena + arenaUsed
        if let source = text.baseAddress { place.update(from: source, count: text.count) }
        arenaUsed += text.count
        return UnsafePointer(place)
    }

    // MARK: Slots: one 64-bit word each, 32 bits of the hash above number + 1; zero is empty

    private typealias Slot = Atomic<UInt64>

    /// A block of memory: the capacity in the first word, then the slots.
    private static func makeSlots(capacity: Int) -> UnsafeMutableRawPointer {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: (capacity + 1) * MemoryLayout<UInt64>.stride, alignment: 8)
        memory.storeBytes(of: UInt64(capacity), as: UInt64.self)
        for index in 0..<capacity {
            slot(index, in: memory).initialize(to: Slot(0))
        }
        return memory
    }

    @inline(__always)
    private static func slot(
        _ index: Int, in memory: UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<Slot> {
        (memory + (index + 1) * MemoryLayout<UInt64>.stride).assumingMemoryBound(to: Slot.self)
    }

    @inline(__always)
    private static func packed(hash: UInt64, number: UInt32) -> UInt64 {
        hash & 0xFFFF_FFFF_0000_0000 | UInt64(number) + 1
    }

    private func find(
        _ text: UnsafeBufferPointer<UInt8>, hash: UInt64
    ) -> (number: UInt32?, slot: Int) {
        let memory = slots.load(ordering: .acquiring)
        let mask = Int(memory.load(as: UInt64.self)) - 1
        var index = Int(truncatingIfNeeded: hash) & mask
        while true {
            let word = Self.slot(index, in: memory).pointee.load(ordering: .acquiring)
            if word == 0 { return (nil, index) }
            if (word ^ hash) >> 32 == 0 {
                let number = UInt32(truncatingIfNeeded: word) - 1
                if Self.equal(self.text(number), text) { return (number, index) }
            }
            index = (index + 1) & mask
        }
    }

    @inline(__always)
    private static func equal(
        _ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        one.count == other.count && one.elementsEqual(other)
    }

    private func grow() {
        let old = slots.load(ordering: .relaxed)
        slotCapacity *= 2
        let new = Self.makeSlots(capacity: slotCapacity)
        for number in 0..<UInt32(count) {
            let hash = hash(text(number))
            var index = Int(truncatingIfNeeded: hash) & (slotCapacity - 1)
            while Self.slot(index, in: new).pointee.load(ordering: .relaxed) != 0 {
                index = (index + 1) & (slotCapacity - 1)
            }
            Self.slot(index, in: new).pointee
                .store(Self.packed(hash: hash, number: number), ordering: .relaxed)
        }
        slots.store(new, ordering: .releasing)
        retiredSlots.append(old)
    }

    /// Eight bytes a step, each folded in by the high and low halves of a 128-bit product.
    private func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let bytes = UnsafeRawBufferPointer(text)
        var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count)
        var offset = 0
        while bytes.count - offset >= 8 {
            hash = Self.mix(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return Self.mix(Self.mix(hash ^ rest))
    }

    @inline(__always)
    private static func mix(_ word: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }
}
