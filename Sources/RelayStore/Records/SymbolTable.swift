import Synchronization
import Threads

/// An append-only table that gives every distinct text (a record id, a name) a small dense number.
///
/// Any thread may look up, without a lock, and add, with one. Why that is safe:
/// 1. Texts and entries never move and never change: they live in blocks that are only ever added.
/// 2. A reader knows a number only from a snapshot that was handed to it after the entry was written,
///    or from a slot of the hash table, which is published with release order and read with acquire.
/// 3. A hash table that became too small is replaced, not rewritten, and lives on as long as this
///    table, so a reader may finish its search in the old one; it misses at most texts that were added
///    after its snapshot was taken.
///
/// The hash is seeded per table, so nobody outside can choose texts that collide.
package final class SymbolTable: @unchecked Sendable {
    // Unchecked: see the three rules above. Everything that is not atomic belongs to who holds
    // `adding`, or is fixed before a reader can learn of it.

    /// Sixteen bytes. A text of up to 15 bytes stands in the entry itself, with its count behind it in the last
    /// byte: who looks it up touches one line of memory less. A longer one stands in an arena: its address, then
    /// its count and a last byte of 255. (Little-endian machines: the last byte is the highest.)
    private struct Entry {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        static let inlineLimit = 15
        private static let isElsewhere: UInt64 = 255 << 56

        init(inline text: UnsafeBufferPointer<UInt8>) {
            withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: text) }
            high |= UInt64(text.count) << 56
        }

        init(at place: UnsafePointer<UInt8>, count: Int) {
            low = UInt64(UInt(bitPattern: place))
            high = UInt64(count) | Self.isElsewhere
        }

        /// The text of an entry that stays where it is.
        @inline(__always)
        static func text(_ entry: UnsafePointer<Entry>) -> UnsafeBufferPointer<UInt8> {
            let last = entry.pointee.high >> 56
            if last <= UInt64(inlineLimit) {
                let bytes = UnsafeRawPointer(entry).assumingMemoryBound(to: UInt8.self)
                return UnsafeBufferPointer(start: bytes, count: Int(last))
            }
            return UnsafeBufferPointer(
                start: UnsafePointer(bitPattern: UInt(entry.pointee.low)),
                count: Int(entry.pointee.high & ~isElsewhere))
        }
    }

    /// Blocks of entries; block k holds 256 << k of them, so number -> block is arithmetic.
    private let blocks: UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    private static let blockLimit = 25
    private static let firstBlockBits = 8

    private let slots: Atomic<UnsafeMutableRawPointer>
    private var retiredSlots: [UnsafeMutableRawPointer] = []
    private var slotCapacity: Int
    private let seed: UInt64
    private let adding = Lock<Void>(())

    private var arena: UnsafeMutablePointer<UInt8>
    private var arenaUsed = 0
    private var arenaSize = 1 << 12
    private var arenas: [UnsafeMutablePointer<UInt8>]

    private var count = 0

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
        Entry.text(entry(number))
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

    /// Whether one of the texts is such. Looks at all of them, under the lock.
    func contains(where isSuch: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        adding.withLock { _ in (0..<UInt32(count)).contains { isSuch(text($0)) } }
    }

    // MARK: Writing

    /// The number of a text, which is added when it is new.
    package func intern(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let hash = hash(text)
        if let number = find(text, hash: hash).number { return number }
        return adding.withLock { _ in add(text, hash: hash) }
    }

    /// Only under the lock.
    private func add(_ text: UnsafeBufferPointer<UInt8>, hash: UInt64) -> UInt32 {
        // Somebody may have been faster.
        let found = find(text, hash: hash)
        if let number = found.number { return number }
        precondition(count < Int(UInt32.max) - 1, "a symbol table holds at most 2^32 - 2 texts")
        let number = UInt32(count)
        append(
            text.count <= Entry.inlineLimit
                ? Entry(inline: text) : Entry(at: copy(text), count: text.count))
        Self.slot(found.slot, in: slots.load(ordering: .relaxed)).pointee
            .store(Self.packed(hash: hash, number: number), ordering: .releasing)
        if count * 4 > slotCapacity * 3 { grow() }
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
                if areSame(self.text(number), text) { return (number, index) }
            }
            index = (index + 1) & mask
        }
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
        let count = bytes.count
        var hash = seed ^ UInt64(truncatingIfNeeded: count)
        var offset = 0
        while count - offset > 8 {
            hash = Self.mix(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        return Self.mix(Self.mix(hash ^ Self.rest(bytes, from: offset)))
    }

    /// The last bytes, at most eight of them: two halves that overlap where there are fewer.
    @inline(__always)
    private static func rest(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> UInt64 {
        let count = bytes.count
        if count >= 8 {
            return bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        }
        if count >= 4 {
            let low = bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
            let high = bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            return UInt64(high) << 32 | UInt64(low)
        }
        var rest: UInt64 = 0
        for byte in bytes { rest = rest << 8 | UInt64(byte) }
        return rest
    }

    @inline(__always)
    private static func mix(_ word: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }
}
