import Synchronization
import Threads

/// Gives every distinct text (a record id, a name) a small dense number.
///
/// Any thread may look up, without a lock, and add, with one. Why that is safe:
/// 1. Texts and entries never move. They change only when a number is reused, and that happens after every thread that
///    could have found it with its old text has gone; see 4.
/// 2. A reader knows a number only from a snapshot that it received after the entry was written, or from a slot of the
///    hash table, which is published with release order and read with acquire.
/// 3. A hash table that became too small is replaced, not rewritten, and lives on until such readers have gone, so a
///    reader may finish its search in the old one; it misses at most texts that were added after its snapshot was
///    taken.
/// 4. A number is freed in two steps, for each of which ``SymbolCollection`` vouches: ``withdraw(below:unless:)`` makes
///    it unfindable once no state and no older snapshot has it, and ``vacate(_:)`` allows its reuse once everyone has
///    gone who may have been looking while it was withdrawn. A pinned text is not withdrawn.
///
/// The hash is seeded per table, so texts that collide cannot be chosen from outside.
@_spi(Rooms) public final class SymbolTable: @unchecked Sendable {
    // Unchecked: see the rules above. Everything that is not atomic belongs to the holder of
    // `adding`, or is constant before a reader can learn of it.

    /// Sixteen bytes. A text of up to 15 bytes is in the entry itself, with its length in the last byte: a
    /// look-up then touches one cache line less. A longer one is in an arena: the entry has its address, then
    /// its length and a last byte of 255. (Little-endian machines: the last byte is the highest.)
    private struct Entry {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        static let inlineLimit = 15
        private static let isElsewhere: UInt64 = 255 << 56

        init(inline text: UnsafeBufferPointer<UInt8>) {
            withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: text) }
            high |= UInt64(text.count) << 56
        }

        /// Where the text is, and its size; nil if it is in the entry.
        static func place(
            _ entry: UnsafePointer<Entry>
        ) -> (UnsafeMutablePointer<UInt8>, size: Int)? {
            guard entry.pointee.high >> 56 > UInt64(inlineLimit),
                let place = UnsafeMutablePointer<UInt8>(
                    bitPattern: UInt(entry.pointee.low))
            else { return nil }
            return (place, Int(entry.pointee.high & ~isElsewhere))
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
    /// Likewise: how many holders each number has that do not look up its text.
    private let holds: UnsafeMutablePointer<UnsafeMutablePointer<Atomic<UInt32>>?>
    private static let blockLimit = 25
    private static let firstBlockBits = 8

    private let slots: Atomic<UnsafeMutableRawPointer>
    /// Bytes of the longest text that was ever added.
    private let longest = Atomic(0)
    private var retiredSlots: [UnsafeMutableRawPointer] = []
    private var slotCapacity: Int
    private let seed: UInt64
    private let adding = Lock<Void>(())

    private var arena: UnsafeMutablePointer<UInt8>
    private var arenaUsed = 0
    private var arenaSize = 1 << 12
    private var arenas: [UnsafeMutablePointer<UInt8>]

    private var count = 0
    /// Numbers that are withdrawn or vacant.
    private var gone = SymbolSet()
    private var vacant: [UInt32] = []
    /// Vacant places for longer texts, by size.
    private var vacantTexts: [Int: [UnsafeMutablePointer<UInt8>]] = [:]
    /// How many pins each number has.
    private var pins: [UInt32: Int] = [:]
    /// Numbers that were looked up, added or unpinned since the watch began.
    private var noted = SymbolSet()
    private let isWatched = Atomic(false)
    private let live = Atomic(0)

    /// How many texts have a number.
    var liveCount: Int { live.load(ordering: .relaxed) }

    @_spi(Rooms) public init() {
        blocks = .allocate(capacity: Self.blockLimit)
        blocks.initialize(repeating: nil, count: Self.blockLimit)
        holds = .allocate(capacity: Self.blockLimit)
        holds.initialize(repeating: nil, count: Self.blockLimit)
        seed = UInt64.random(in: 0 ... .max)
        slotCapacity = 64
        slots = Atomic(Self.makeSlots(capacity: slotCapacity))
        arena = .allocate(capacity: arenaSize)
        arenas = [arena]
    }

    deinit {
        for block in 0..<Self.blockLimit {
            blocks[block]?.deallocate()
            holds[block]?.deallocate()
        }
        blocks.deallocate()
        holds.deallocate()
        slots.load(ordering: .relaxed).deallocate()
        for old in retiredSlots { old.deallocate() }
        for arena in arenas { arena.deallocate() }
    }

    // MARK: Reading

    /// The text with this number. The number must come from this table.
    @inline(__always)
    @_spi(Rooms) public func text(_ number: UInt32) -> UnsafeBufferPointer<UInt8> {
        Entry.text(entry(number))
    }

    /// The text with this number, as a string.
    @_spi(Rooms) public func string(_ number: UInt32) -> String {
        String(decoding: text(number), as: UTF8.self)
    }

    /// The number of a text, or nil when the table does not have it.
    @_spi(Rooms) public func find(_ text: UnsafeBufferPointer<UInt8>) -> UInt32? {
        // A stranger's text may have millions of bytes.
        if text.count > longest.load(ordering: .relaxed) { return nil }
        return find(text, hash: hash(text)).number
    }

    @_spi(Rooms) public func find(_ text: String) -> UInt32? {
        var text = text
        return text.withUTF8 { find($0) }
    }

    /// Whether a text matches. Looks at all of them, under the lock.
    func contains(where isSuch: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        adding.withLock { _ in
            (0..<UInt32(count)).contains { !gone.contains($0) && isSuch(text($0)) }
        }
    }

    // MARK: Writing

    /// The number of a text, which is added if it is new.
    @_spi(Rooms) public func intern(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let hash = hash(text)
        if let number = find(text, hash: hash).number {
            if isWatched.load(ordering: .relaxed) { adding.withLock { _ in noted.insert(number) } }
            return number
        }
        return adding.withLock { _ in add(text, hash: hash) }
    }

    /// Only under the lock.
    private func add(_ text: UnsafeBufferPointer<UInt8>, hash: UInt64) -> UInt32 {
        if text.count > longest.load(ordering: .relaxed) {
            longest.store(text.count, ordering: .relaxed)
        }
        // Another thread may have been faster.
        let found = find(text, hash: hash)
        if let number = found.number {
            if isWatched.load(ordering: .relaxed) { noted.insert(number) }
            return number
        }
        let entry =
            text.count <= Entry.inlineLimit
            ? Entry(inline: text) : Entry(at: copy(text), count: text.count)
        let number: UInt32
        if let again = vacant.popLast() {
            number = again
            self.entry(number).pointee = entry
            gone.remove(number)
        } else {
            precondition(count < Int(UInt32.max) - 1, "a symbol table holds at most 2^32 - 2 texts")
            number = UInt32(count)
            append(entry)
        }
        live.add(1, ordering: .relaxed)
        if isWatched.load(ordering: .relaxed) { noted.insert(number) }
        Self.slot(found.slot, in: slots.load(ordering: .relaxed)).pointee
            .store(Self.packed(hash: hash, number: number), ordering: .releasing)
        if liveCount * 4 > slotCapacity * 3 { rehash(capacity: slotCapacity * 2) }
        return number
    }

    @_spi(Rooms) public func intern(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { intern($0) }
    }

    // MARK: Freeing numbers; see SymbolCollection

    /// The number of a text, which is added if it is new, pinned until ``unpin(_:)``. Any thread may call this.
    func pin(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        adding.withLock { _ in
            let number = add(text, hash: hash(text))
            pins[number, default: 0] += 1
            return number
        }
    }

    func pin(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { pin($0) }
    }

    /// Any thread may call this. The holder may just have written the text, so it counts as looked up.
    func unpin(_ numbers: [UInt32]) {
        adding.withLock { _ in
            for number in numbers {
                guard let count = pins[number] else { continue }
                pins[number] = count > 1 ? count - 1 : nil
                if isWatched.load(ordering: .relaxed) { noted.insert(number) }
            }
        }
    }

    /// Holds a number that the caller has from a snapshot, which it keeps meanwhile. Any thread may call this.
    @inline(__always)
    @_spi(Rooms) public func hold(_ number: UInt32) {
        holdCount(number).pointee.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Ends one ``hold(_:)``. Any thread may call this.
    @inline(__always)
    @_spi(Rooms) public func endHold(_ number: UInt32) {
        holdCount(number).pointee.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    }

    @_spi(Rooms) public func isHeld(_ number: UInt32) -> Bool {
        holdCount(number).pointee.load(ordering: .acquiring) != 0
    }

    /// From now on, look-ups of numbers are noted, until ``withdraw(below:unless:)``.
    /// - Returns: how many numbers there are.
    @_spi(Rooms) public func watch() -> Int {
        adding.withLock { _ in
            noted = SymbolSet()
            isWatched.store(true, ordering: .relaxed)
            return count
        }
    }

    /// Makes numbers unfindable: those below `limit` that neither the caller nor anything since ``watch()`` needs,
    /// and that are not held or pinned. Their entries stay as they are.
    /// - Parameter isNeeded: must not use this table.
    @_spi(Rooms) public func withdraw(
        below limit: Int, unless isNeeded: (UInt32, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> [UInt32] {
        adding.withLock { _ in
            isWatched.store(false, ordering: .relaxed)
            let numbers = (0..<UInt32(limit)).filter {
                !gone.contains($0) && !noted.contains($0) && pins[$0] == nil
                    && !isHeld($0) && !isNeeded($0, text($0))
            }
            noted = SymbolSet()
            if numbers.isEmpty { return [] }
            for number in numbers { gone.insert(number) }
            live.subtract(numbers.count, ordering: .relaxed)
            rehash(capacity: slotCapacity)
            return numbers
        }
    }

    /// Allows the reuse of numbers that were withdrawn and are no longer in use.
    @_spi(Rooms) public func vacate(_ numbers: [UInt32]) {
        adding.withLock { _ in
            for number in numbers {
                if let (place, size) = Entry.place(entry(number)) {
                    vacantTexts[Self.textSize(size), default: []].append(place)
                }
                vacant.append(number)
            }
        }
    }

    /// Releases hash tables that were replaced. No thread may be searching one of them.
    /// - Parameter count: how many of ``replacedCount``, oldest first.
    @_spi(Rooms) public func freeReplaced(_ count: Int) {
        adding.withLock { _ in
            for old in retiredSlots.prefix(count) { old.deallocate() }
            retiredSlots.removeFirst(min(count, retiredSlots.count))
        }
    }

    /// Hash tables that were replaced and that a thread may still search.
    @_spi(Rooms) public var replacedCount: Int { adding.withLock { _ in retiredSlots.count } }

    // MARK: Entries

    @inline(__always)
    private func entry(_ number: UInt32) -> UnsafeMutablePointer<Entry> {
        let (block, place) = Self.place(number)
        guard let entries = blocks[block] else {
            preconditionFailure("symbol \(number) was never handed out by this table")
        }
        return entries + place
    }

    @inline(__always)
    private static func place(_ number: UInt32) -> (block: Int, place: Int) {
        let place = Int(number) + (1 << firstBlockBits)
        let block = Int.bitWidth - 1 - place.leadingZeroBitCount - firstBlockBits
        return (block, place - (1 << (block + firstBlockBits)))
    }

    @inline(__always)
    private func holdCount(_ number: UInt32) -> UnsafeMutablePointer<Atomic<UInt32>> {
        let (block, place) = Self.place(number)
        guard let counts = holds[block] else {
            preconditionFailure("symbol \(number) was never handed out by this table")
        }
        return counts + place
    }

    private func append(_ new: Entry) {
        let block = Self.place(UInt32(count)).block
        if blocks[block] == nil {
            let capacity = 1 << (block + Self.firstBlockBits)
            blocks[block] = .allocate(capacity: capacity)
            let counts = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: capacity)
            for place in 0..<capacity { (counts + place).initialize(to: Atomic(0)) }
            holds[block] = counts
        }
        count += 1
        entry(UInt32(count - 1)).initialize(to: new)
    }

    private func copy(_ text: UnsafeBufferPointer<UInt8>) -> UnsafePointer<UInt8> {
        let size = Self.textSize(text.count)
        let place = vacantTexts[size]?.popLast() ?? newPlace(size)
        if let source = text.baseAddress { place.update(from: source, count: text.count) }
        return UnsafePointer(place)
    }

    /// The size of a text's allocation: only a few sizes, so that another text fits in later.
    private static func textSize(_ count: Int) -> Int {
        var step = 8
        while count > step * 16 { step *= 2 }
        return (count + step - 1) / step * step
    }

    private func newPlace(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        if arenaUsed + size > arenaSize {
            arenaSize = max(min(arenaSize * 2, 1 << 20), size)
            arena = .allocate(capacity: arenaSize)
            arenas.append(arena)
            arenaUsed = 0
        }
        defer { arenaUsed += size }
        return arena + arenaUsed
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

    private func rehash(capacity: Int) {
        let old = slots.load(ordering: .relaxed)
        slotCapacity = capacity
        let new = Self.makeSlots(capacity: slotCapacity)
        for number in 0..<UInt32(count) where !gone.contains(number) {
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

    /// Eight bytes at a time, each folded in by the high and low halves of a 128-bit product.
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

    /// The last bytes, at most eight: two overlapping halves if there are fewer.
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
