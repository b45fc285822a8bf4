/// One record: its type and the values of its fields, in one block of memory that never changes.
///
/// Layout, in 64-bit words, for a shape of n keys:
///
///     tags    (n + 7) / 8 words, one byte a slot: what kind of value it has (``Tag``)
///     slots   n words: the value, or its location
///     text    the bytes of strings and JSON values, without gaps
///
/// A slot holds: an int or a double as it is; a record's number; a retained ``LinkList``; for text, its
/// offset from the start of the text in the low half and its length in bytes in the high half.
///
/// Strings and JSON cost no allocation and no reference count of their own, so a reader that walks
/// through a row touches one block of memory.
@_spi(Rooms) public final class Row: ManagedBuffer<RowHeader, UInt64> {
    deinit {
        guard withUnsafeMutablePointerToHeader({ $0.pointee.listCount }) > 0 else { return }
        for slot in 0..<slotCount where tag(slot) == .links {
            Unmanaged<LinkList>.fromOpaque(pointer(word(slot))).release()
        }
    }

    // The header is read through its address: a stored property would be checked for exclusive
    // access each time, and it is never written.
    @inlinable
    @_spi(Rooms) public var shape: Shape {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.shape } }
    }

    /// The shape's address: for comparisons without loading the shape.
    @inlinable
    @_spi(Rooms) public var shapeIdentity: UnsafeRawPointer {
        @inline(__always) get {
            withUnsafeMutablePointerToHeader {
                UnsafeRawPointer(Unmanaged.passUnretained($0.pointee.shape).toOpaque())
            }
        }
    }

    @inlinable
    @_spi(Rooms) public var type: NameIndex { shape.type }

    /// The place of this record in the store's creation order.
    @inlinable
    @_spi(Rooms) public var creation: UInt64 {
        withUnsafeMutablePointerToHeader { $0.pointee.creation }
    }
    @inlinable
    @_spi(Rooms) public var slotCount: Int {
        @inline(__always) get {
            withUnsafeMutablePointerToHeader { Int($0.pointee.slotCount) }
        }
    }

    // MARK: Reading a slot

    /// What kind of value a slot holds.
    @_spi(Rooms) public enum Tag: UInt8, Sendable {
        /// The record has no information about this field.
        case absent
        case null
        case `false`
        case `true`
        case int
        case double
        case string
        /// Any other JSON value: lists of scalars, JSON scalars.
        case json
        case link
        case links
        /// Null because of field errors, which are stored as a JSON list.
        case failed

        /// As a row stores it. The compiler's code for a raw value is not inlined into other rooms.
        @inlinable
        @_spi(Rooms) public var byte: UInt8 { unsafeBitCast(self, to: UInt8.self) }

        @inlinable @_spi(Rooms) public static func == (one: Tag, other: Tag) -> Bool {
            one.byte == other.byte
        }
    }

    /// The kinds of values that the row has, as a set of tags.
    @inlinable
    @_spi(Rooms) public var kinds: TagSet {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.kinds } }
    }

    @inlinable @inline(__always)
    @_spi(Rooms) public func tag(_ slot: Int) -> Tag {
        withUnsafeMutablePointerToElements {
            // Only a row's builder writes tags, from the enum itself.
            unsafeBitCast(
                UnsafeRawPointer($0).load(fromByteOffset: slot, as: UInt8.self), to: Tag.self)
        }
    }

    @inlinable @inline(__always)
    @_spi(Rooms) public func word(_ slot: Int) -> UInt64 {
        withUnsafeMutablePointerToElements { $0[Self.tagWords(slotCount) + slot] }
    }

    /// Calls the body with all tags and words.
    @inline(__always)
    func withSlots(
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt64>) -> Void
    ) {
        withUnsafeMutablePointerToElements { words in
            let count = slotCount
            words.withMemoryRebound(to: UInt8.self, capacity: count) {
                body(
                    UnsafeBufferPointer(start: $0, count: count),
                    UnsafeBufferPointer(start: words + Self.tagWords(count), count: count))
            }
        }
        withExtendedLifetime(self) {}
    }

    /// Calls the body with the text of a string, JSON or failed slot.
    @inlinable @inline(__always)
    @_spi(Rooms) public func withText<R, E: Error>(
        _ slot: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        // The elements outlive the call: the caller holds the row.
        let text = withUnsafeMutablePointerToElements { words in
            let count = slotCount
            let place = words[Self.tagWords(count) + slot]
            let start =
                UnsafeRawPointer(words + Self.tagWords(count) + count)
                + Int(truncatingIfNeeded: place & 0xFFFF_FFFF)
            return UnsafeBufferPointer(
                start: start.assumingMemoryBound(to: UInt8.self), count: Int(place >> 32))
        }
        defer { withExtendedLifetime(self) {} }
        return try body(text)
    }

    @inlinable
    @_spi(Rooms) public func int(_ slot: Int) -> Int64 { Int64(bitPattern: word(slot)) }

    @inlinable
    @_spi(Rooms) public func double(_ slot: Int) -> Double { Double(bitPattern: word(slot)) }

    @inlinable @inline(__always)
    @_spi(Rooms) public func link(_ slot: Int) -> RecordIndex {
        RecordIndex(rawValue: UInt32(truncatingIfNeeded: word(slot)))
    }

    @inlinable @inline(__always)
    @_spi(Rooms) public func links(_ slot: Int) -> LinkList {
        Unmanaged<LinkList>.fromOpaque(pointer(word(slot))).takeUnretainedValue()
    }

    /// The slot of a key that has a value.
    @inlinable @inline(__always)
    @_spi(Rooms) public func slot(of key: NameIndex) -> Int? {
        guard let slot = shape.slot(of: key), tag(slot) != .absent else { return nil }
        return slot
    }

    @inlinable @inline(__always)
    @_spi(Rooms) public static func tagWords(_ slotCount: Int) -> Int { (slotCount + 7) >> 3 }

    @usableFromInline
    func pointer(_ word: UInt64) -> UnsafeRawPointer {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(word)) else {
            preconditionFailure("a links slot of a row holds a list")
        }
        return pointer
    }
}

/// What a snapshot knows of one record.
@_spi(Rooms) public enum RecordSlot: @unchecked Sendable {
    // Unchecked: ManagedBuffer is not Sendable because it can be written; a row is never written
    // after it was made.

    /// It was never mentioned.
    case unknown
    /// It was deleted.
    case nonexistent
    case existent(Row)

    @inlinable @inline(__always)
    @_spi(Rooms) public var row: Row? {
        if case .existent(let row) = self { row } else { nil }
    }
}

@_spi(Rooms) public struct RowHeader {
    @usableFromInline let shape: Shape
    @usableFromInline let creation: UInt64
    /// The number of the shape's keys.
    @usableFromInline let slotCount: UInt32
    @usableFromInline let listCount: UInt32
    @usableFromInline let kinds: TagSet
    @inlinable @_spi(Rooms) public init(
        shape: Shape, creation: UInt64, slotCount: Int, listCount: Int, kinds: TagSet
    ) {
        self.shape = shape
        self.creation = creation
        // A response is a block of memory of less than 4 GiB; a field in it takes more than a byte.
        self.slotCount = UInt32(truncatingIfNeeded: slotCount)
        self.listCount = UInt32(truncatingIfNeeded: listCount)
        self.kinds = kinds
    }
}

/// Kinds of values that occur in a row.
@_spi(Rooms) public struct TagSet: OptionSet {
    @_spi(Rooms) public var rawValue: UInt16

    @inlinable @_spi(Rooms) public init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable @inline(__always)
    @_spi(Rooms) public init(_ tag: Row.Tag) { rawValue = 1 << UInt16(tag.byte) }
}

extension Row {
    /// Whether a slot of this row and one of another hold the same value. Link lists are compared
    /// by their links.
    @_spi(Rooms) public func slot(_ slot: Int, equals other: Row, _ otherSlot: Int) -> Bool {
        let tag = tag(slot)
        guard tag == other.tag(otherSlot) else { return false }
        switch tag {
        case .absent, .null, .false, .true:
            return true
        case .int, .double, .link:
            return word(slot) == other.word(otherSlot)
        case .string, .json, .failed:
            return withText(slot) { text in
                other.withText(otherSlot) { areSame($0, text) }
            }
        case .links:
            return links(slot) == other.links(otherSlot)
        }
    }
}
