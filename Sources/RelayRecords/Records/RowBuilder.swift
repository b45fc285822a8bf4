/// Builds rows: starts from an existing one or from nothing, takes writes, and lays out the result.
///
/// Reused by the store's writer, so that building a row allocates nothing but the row.
@_spi(Rooms) public struct RowBuilder {
    private var shape: Shape?
    /// ``Row/Tag``s by slot.
    private var tags = ContiguousArray<UInt8>()
    /// As in a row. A text's place refers to `text` if the slot was written, else to `source`; a list
    /// belongs to `lists` if the slot was written, else to `source`.
    private var words = ContiguousArray<UInt64>()
    private var isWritten = ContiguousArray<Bool>()
    private var text = ContiguousArray<UInt8>()
    private var lists = ContiguousArray<(slot: Int, list: LinkList)>()
    private var source: Row?
    /// Keys that a wide record gets in addition to those of `shape`, and their slots.
    private var added = ContiguousArray<NameIndex>()
    private var addedSlots: [NameIndex: Int] = [:]

    @_spi(Rooms) public init() {}

    /// Starts from a row, whose type may change, or from a record without fields.
    @_spi(Rooms) public mutating func begin(_ row: Row?, type: NameIndex, shapes: ShapeTable) {
        clear()
        guard let row else {
            shape = shapes.root(of: type)
            return
        }
        source = row
        var shape = row.shape
        if shape.type != type {
            // The same keys under another type: in the same order, so slots stay.
            shape = shapes.shape(type: type, keys: shape.keys)
        }
        self.shape = shape
        row.withSlots { rowTags, rowWords in
            tags.append(contentsOf: rowTags)
            words.append(contentsOf: rowWords)
        }
        isWritten.append(contentsOf: repeatElement(false, count: tags.count))
    }

    /// Starts a record with all keys of a shape, none of them with a value yet.
    @_spi(Rooms) public mutating func begin(_ shape: Shape) {
        clear()
        self.shape = shape
        for _ in shape.keys { addSlot() }
    }

    private mutating func clear() {
        tags.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        isWritten.removeAll(keepingCapacity: true)
        text.removeAll(keepingCapacity: true)
        if !lists.isEmpty { lists.removeAll(keepingCapacity: true) }
        source = nil
        if !added.isEmpty { clearAdded() }
    }

    private mutating func clearAdded() {
        added.removeAll(keepingCapacity: true)
        addedSlots.removeAll(keepingCapacity: true)
    }

    /// The slot of a key, which is added to the shape if necessary.
    @_spi(Rooms) public mutating func slot(for key: NameIndex, shapes: ShapeTable) -> Int {
        guard let current = shape else { preconditionFailure("begin(_:type:shapes:) comes first") }
        if let slot = current.slot(of: key) { return slot }
        if current.keys.count < ShapeTable.wideLimit {
            shape = shapes.growing(current, by: key)
        } else {
            if let slot = addedSlots[key] { return slot }
            added.append(key)
            addedSlots[key] = tags.count
        }
        addSlot()
        return tags.count - 1
    }

    private mutating func addSlot() {
        tags.append(Row.Tag.absent.rawValue)
        words.append(0)
        isWritten.append(true)
    }

    private func tag(_ slot: Int) -> Row.Tag {
        // Only this type and rows write tags, from the enum itself.
        unsafeBitCast(tags[slot], to: Row.Tag.self)
    }

    /// What a slot holds now, if it is a list.
    @_spi(Rooms) public func list(_ slot: Int) -> LinkList? {
        guard tag(slot) == .links else { return nil }
        return isWritten[slot] ? lists.last { $0.slot == slot }?.list : source?.links(slot)
    }

    @_spi(Rooms) public mutating func set(_ slot: Int, _ tag: Row.Tag, word: UInt64 = 0) {
        tags[slot] = tag.rawValue
        words[slot] = word
        isWritten[slot] = true
    }

    @_spi(Rooms) public mutating func set(
        _ slot: Int, _ tag: Row.Tag, text new: UnsafeBufferPointer<UInt8>
    ) {
        set(slot, tag, word: UInt64(new.count) << 32 | UInt64(text.count))
        text.append(contentsOf: new)
    }

    @_spi(Rooms) public mutating func set(_ slot: Int, _ list: LinkList) {
        set(slot, .links)
        lists.append((slot, list))
    }

    /// Lays out the row. The builder releases everything it held.
    @_spi(Rooms) public mutating func finish(creation: UInt64, shapes: ShapeTable) -> Row {
        guard var shape else { preconditionFailure("begin(_:type:shapes:) comes first") }
        if !added.isEmpty {
            shape = shapes.widening(shape, by: added)
            clearAdded()
        }
        let count = tags.count
        var textCount = 0
        var listCount = 0
        var kinds: TagSet = []
        for slot in 0..<count {
            let tag = tag(slot)
            kinds.formUnion(TagSet(tag))
            switch tag {
            case .string, .json, .failed: textCount += Int(words[slot] >> 32)
            case .links: listCount += 1
            default: break
            }
        }
        let header = RowHeader(
            shape: shape, creation: creation, slotCount: count, listCount: listCount,
            kinds: kinds)
        let tagWords = Row.tagWords(count)
        let buffer = Row.create(minimumCapacity: tagWords + count + ((textCount + 7) >> 3)) { _ in
            header
        }
        let row = unsafeDowncast(buffer, to: Row.self)
        row.withUnsafeMutablePointerToElements { elements in
            elements.update(repeating: 0, count: tagWords)
            tags.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: elements, count: count).copyMemory(from: $0)
            }
            fill(elements + tagWords, count)
        }
        self.shape = nil
        source = nil
        if !lists.isEmpty { lists.removeAll(keepingCapacity: true) }
        return row
    }

    /// A wide row without the keys that have no value, once there are many; otherwise the row itself.
    @_spi(Rooms) public mutating func compacted(_ row: Row, shapes: ShapeTable) -> Row {
        guard row.slotCount > ShapeTable.wideLimit, row.kinds.contains(TagSet(.absent)) else {
            return row
        }
        let slots = (0..<row.slotCount).filter { row.tag($0) != .absent }
        guard slots.count < row.slotCount - row.slotCount / 4 else { return row }
        begin(shapes.shape(type: row.type, keys: slots.map { row.shape.keys[$0] }))
        for (place, slot) in slots.enumerated() {
            switch row.tag(slot) {
            case .string, .json, .failed: row.withText(slot) { set(place, row.tag(slot), text: $0) }
            case .links: set(place, row.links(slot))
            case let tag: set(place, tag, word: row.word(slot))
            }
        }
        return finish(creation: row.creation, shapes: shapes)
    }

    /// Writes slots and text of a row.
    private func fill(_ slots: UnsafeMutablePointer<UInt64>, _ count: Int) {
        let textStart = UnsafeMutableRawPointer(slots + count)
        var offset = 0
        for slot in 0..<count {
            switch tag(slot) {
            case .string, .json, .failed:
                let length = Int(words[slot] >> 32)
                copyText(slot, to: textStart + offset, count: length)
                slots[slot] = UInt64(length) << 32 | UInt64(offset)
                offset += length
            case .links:
                guard let list = list(slot) else {
                    preconditionFailure("a links slot of a builder holds a list")
                }
                slots[slot] = UInt64(UInt(bitPattern: Unmanaged.passRetained(list).toOpaque()))
            default:
                slots[slot] = words[slot]
            }
        }
    }

    private func copyText(_ slot: Int, to target: UnsafeMutableRawPointer, count: Int) {
        if isWritten[slot] {
            let from = Int(words[slot] & 0xFFFF_FFFF)
            text.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: target, count: count)
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[from..<from + count]))
            }
        } else {
            source?.withText(slot) {
                if let start = $0.baseAddress { target.copyMemory(from: start, byteCount: count) }
            }
        }
    }
}
