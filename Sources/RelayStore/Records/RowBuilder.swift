/// Makes rows: starts from an existing one or from nothing, takes writes, and lays the result out.
///
/// Kept and used again by the store's writer, so that making a row allocates nothing but the row.
struct RowBuilder {
    private var shape: Shape?
    private var tags = ContiguousArray<Row.Tag>()
    private var words = ContiguousArray<UInt64>()
    private var lists = ContiguousArray<LinkList?>()
    /// Text of the slots that have been written; slots that were not still point into `source`.
    private var text = ContiguousArray<UInt8>()
    private var isRewritten = ContiguousArray<Bool>()
    private var source: Row?

    /// Starts from a row, whose type may change, or from a record without fields.
    mutating func begin(_ row: Row?, type: NameIndex, shapes: ShapeTable) {
        clear()
        guard let row else {
            shape = shapes.root(of: type)
            return
        }
        source = row
        var shape = row.shape
        if shape.type != type {
            // The same keys under another type: grown anew, in the same order, so slots stay.
            shape = row.shape.keys.reduce(shapes.root(of: type)) { shapes.growing($0, by: $1) }
        }
        self.shape = shape
        for slot in 0..<row.slotCount {
            tags.append(row.tag(slot))
            words.append(row.word(slot))
            lists.append(tags[slot] == .links ? row.links(slot) : nil)
            isRewritten.append(false)
        }
    }

    /// Starts a record that has every key of a shape, none of them with a value yet.
    mutating func begin(_ shape: Shape) {
        clear()
        self.shape = shape
        for _ in shape.keys { addSlot() }
    }

    private mutating func clear() {
        tags.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        lists.removeAll(keepingCapacity: true)
        text.removeAll(keepingCapacity: true)
        isRewritten.removeAll(keepingCapacity: true)
        source = nil
    }

    /// The slot of a key, which the shape grows by if need be.
    mutating func slot(for key: NameIndex, shapes: ShapeTable) -> Int {
        guard let current = shape else { preconditionFailure("begin(_:type:shapes:) comes first") }
        if let slot = current.slot(of: key) { return slot }
        shape = shapes.growing(current, by: key)
        addSlot()
        return tags.count - 1
    }

    private mutating func addSlot() {
        tags.append(.absent)
        words.append(0)
        lists.append(nil)
        isRewritten.append(true)
    }

    /// What a slot holds now, if it is a list.
    func list(_ slot: Int) -> LinkList? { lists[slot] }

    mutating func set(_ slot: Int, _ tag: Row.Tag, word: UInt64 = 0) {
        tags[slot] = tag
        words[slot] = word
        lists[slot] = nil
        isRewritten[slot] = true
    }

    mutating func set(_ slot: Int, _ tag: Row.Tag, text new: UnsafeBufferPointer<UInt8>) {
        set(slot, tag, word: UInt64(new.count) << 32 | UInt64(text.count))
        text.append(contentsOf: new)
    }

    mutating func set(_ slot: Int, _ list: LinkList) {
        set(slot, .links)
        lists[slot] = list
    }

    /// Lays the row out. The builder lets go of everything it held.
    mutating func finish(creation: UInt64) -> Row {
        guard let shape else { preconditionFailure("begin(_:type:shapes:) comes first") }
        let count = tags.count
        var textCount = 0
        var listCount = 0
        for slot in 0..<count {
            switch tags[slot] {
            case .string, .json, .failed: textCount += Int(words[slot] >> 32)
            case .links: listCount += 1
            default: break
            }
        }
        let header = RowHeader(
            shape: shape, slotCount: count, creation: creation, listCount: listCount,
            textCount: textCount)
        let wordCount = Row.tagWords(count) + count + ((textCount + 7) >> 3)
        let buffer = Row.create(minimumCapacity: wordCount) { _ in header }
        let row = unsafeDowncast(buffer, to: Row.self)
        row.withUnsafeMutablePointerToElements { elements in
            for word in 0..<Row.tagWords(count) { elements[word] = 0 }
            let tagBytes = UnsafeMutableRawPointer(elements)
            let slots = elements + Row.tagWords(count)
            let textStart = UnsafeMutableRawPointer(slots + count)
            var offset = 0
            for slot in 0..<count {
                tagBytes.storeBytes(of: tags[slot].rawValue, toByteOffset: slot, as: UInt8.self)
                switch tags[slot] {
                case .string, .json, .failed:
                    let length = Int(words[slot] >> 32)
                    copyText(slot, to: textStart + offset, count: length)
                    slots[slot] = UInt64(length) << 32 | UInt64(offset)
                    offset += length
                case .links:
                    guard let list = lists[slot] else {
                        preconditionFailure("a links slot of a builder holds a list")
                    }
                    slots[slot] = UInt64(
                        UInt(bitPattern: Unmanaged.passRetained(list).toOpaque()))
                default:
                    slots[slot] = words[slot]
                }
            }
        }
        self.shape = nil
        source = nil
        return row
    }

    private func copyText(_ slot: Int, to target: UnsafeMutableRawPointer, count: Int) {
        if isRewritten[slot] {
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
