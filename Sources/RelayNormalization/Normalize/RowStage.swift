@_spi(Rooms) import RelayRecords

/// The fields of a response object as they arrive; then the row they make.
///
/// Slot i is field i of a ``FlatSelection``, so a new record takes over tags, words and text unchanged. There is one
/// stage per level of nesting, which is reused.
final class RowStage {
    private(set) var tags: UnsafeMutablePointer<UInt8>
    private(set) var words: UnsafeMutablePointer<UInt64>
    private var capacity = 0
    private(set) var count = 0

    private var text: UnsafeMutablePointer<UInt8>
    private var textCapacity = 256
    private(set) var textCount = 0
    /// Number of lists among the words; each holds a reference.
    private(set) var listCount = 0

    init() {
        capacity = 16
        tags = .allocate(capacity: capacity)
        words = .allocate(capacity: capacity)
        text = .allocate(capacity: textCapacity)
    }

    deinit {
        releaseLists()
        tags.deallocate()
        words.deallocate()
        text.deallocate()
    }

    /// Starts an object: no field has been given yet.
    func begin(_ count: Int) {
        releaseLists()
        if count > capacity {
            capacity = count * 2
            tags.deallocate()
            words.deallocate()
            tags = .allocate(capacity: capacity)
            words = .allocate(capacity: capacity)
        }
        self.count = count
        textCount = 0
        tags.update(repeating: Row.Tag.absent.byte, count: count)
    }

    private func releaseLists() {
        guard listCount > 0 else { return }
        for slot in 0..<count where tag(slot) == .links { releaseList(slot) }
        listCount = 0
    }

    private func releaseList(_ slot: Int) { listReference(slot)?.release() }

    private func listReference(_ slot: Int) -> Unmanaged<LinkList>? {
        UnsafeRawPointer(bitPattern: UInt(words[slot])).map(Unmanaged<LinkList>.fromOpaque)
    }

    @inline(__always)
    func tag(_ slot: Int) -> Row.Tag {
        // Only this type writes tags, from the enum itself.
        unsafeBitCast(tags[slot], to: Row.Tag.self)
    }

    /// Whether the last object read gave a field; still valid once its row has been made.
    func hasGiven(_ slot: Int) -> Bool {
        slot < capacity && tags[slot] != Row.Tag.absent.byte
    }

    // MARK: Giving fields

    @inline(__always)
    func set(_ slot: Int, _ tag: Row.Tag, word: UInt64 = 0) {
        if listCount > 0, self.tag(slot) == .links {
            // Given twice: the last one counts.
            releaseList(slot)
            listCount -= 1
        }
        tags[slot] = tag.byte
        words[slot] = word
    }

    @inline(__always)
    func set(_ slot: Int, _ tag: Row.Tag, text new: UnsafeBufferPointer<UInt8>) {
        set(slot, tag, word: UInt64(new.count) << 32 | UInt64(textCount))
        append(new)
    }

    func set(_ slot: Int, _ list: LinkList) {
        set(
            slot, .links,
            word: UInt64(UInt(bitPattern: Unmanaged.passRetained(list).toOpaque())))
        listCount += 1
    }

    @inline(__always)
    private func append(_ new: UnsafeBufferPointer<UInt8>) {
        guard let start = new.baseAddress else { return }
        if textCount + new.count > textCapacity { grow(new.count) }
        (text + textCount).update(from: start, count: new.count)
        textCount += new.count
    }

    @inline(never)
    private func grow(_ more: Int) {
        textCapacity = max(textCapacity * 2, textCount + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: textCapacity)
        larger.update(from: text, count: textCount)
        text.deallocate()
        text = larger
    }

    /// The text of a string, JSON or failed slot.
    func text(_ slot: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(
            start: text + Int(truncatingIfNeeded: words[slot] & 0xFFFF_FFFF),
            count: Int(words[slot] >> 32))
    }

    func list(_ slot: Int) -> LinkList? {
        tag(slot) == .links ? listReference(slot)?.takeUnretainedValue() : nil
    }

    // MARK: Making rows

    /// Whether a slot has the same value as a row's.
    func slot(_ slot: Int, equals row: Row, _ rowSlot: Int) -> Bool {
        let tag = tag(slot)
        guard tag == row.tag(rowSlot) else { return false }
        switch tag {
        case .absent, .null, .false, .true: return true
        case .int, .double, .link: return words[slot] == row.word(rowSlot)
        case .string, .json, .failed:
            let text = text(slot)
            return row.withText(rowSlot) { areSame($0, text) }
        case .links: return list(slot) == row.links(rowSlot)
        }
    }

    /// A row of everything that was given. The stage releases its lists.
    func row(_ shape: Shape, creation: UInt64) -> Row {
        var kinds: TagSet = []
        for slot in 0..<count { kinds.formUnion(TagSet(tag(slot))) }
        let header = RowHeader(
            shape: shape, creation: creation, slotCount: count, listCount: listCount,
            kinds: kinds)
        let tagWords = Row.tagWords(count)
        let wordCount = tagWords + count + ((textCount + 7) >> 3)
        let buffer = Row.create(minimumCapacity: wordCount) { _ in header }
        let row = unsafeDowncast(buffer, to: Row.self)
        row.withUnsafeMutablePointerToElements { elements in
            for word in 0..<tagWords { elements[word] = 0 }
            UnsafeMutableRawPointer(elements).copyMemory(from: tags, byteCount: count)
            (elements + tagWords).update(from: words, count: count)
            UnsafeMutableRawPointer(elements + tagWords + count)
                .copyMemory(from: text, byteCount: textCount)
        }
        listCount = 0
        count = 0
        return row
    }
}
