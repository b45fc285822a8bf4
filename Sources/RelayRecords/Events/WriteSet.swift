package import RelayJSON

/// What an event does to records, as data: the only way records ever change.
///
/// The bytes are what the log keeps and what the fold reads, so a live commit and its replay run the same
/// code. For every record touched, in order:
///
///     operation   1 byte: 1 write, 2 delete, 3 forget
///     id          counted text
///     only for write:
///       type      counted text
///       fields    tag (1 byte), storage key (counted text), value (below); ended by tag 0
///
/// Values by tag: ``FieldTag``. Numbers are LEB128, texts are preceded by a LEB128 count.
///
/// Invariant: the bytes are well formed; those from outside are checked by ``init(checking:)``.
package struct WriteSet: Sendable, Hashable {
    package let bytes: [UInt8]

    package static let empty = WriteSet(wellFormed: [])

    fileprivate init(wellFormed bytes: [UInt8]) { self.bytes = bytes }

    package var isEmpty: Bool { bytes.isEmpty }
}

enum WriteOperation: UInt8 {
    case write = 1
    case delete = 2
    /// The record becomes unknown again: a client's garbage collection.
    case forget = 3
}

/// How a field of a write set is encoded.
enum FieldTag: UInt8 {
    case end = 0
    case null = 1
    case `false` = 2
    case `true` = 3
    /// Zigzag LEB128.
    case int = 4
    /// 8 bytes, IEEE 754, little-endian.
    case double = 5
    case string = 6
    /// JSON text.
    case json = 7
    /// The id of the record.
    case link = 8
    /// A count, then that many elements: 0 for null, or 1 and an id.
    case links = 9
    /// Null because of field errors: their JSON text.
    case failed = 10
    /// The field becomes unknown.
    case unset = 11
    /// The id of a record whose link is appended to the list.
    case append = 12
    /// The id of a record whose first link is removed from the list.
    case remove = 13
    /// Start, number of links removed, and their replacement, as in `links`.
    case splice = 14
}

/// One new value of one field.
package enum FieldValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    /// Any other value: a list of scalars, a JSON scalar.
    case json(JSONValue)
    case link(DataID)
    case links([DataID?])
    case failed(JSONValue)
    case unset
    case append(DataID)
    case remove(DataID)
    case splice(start: Int, deleted: Int, [DataID?])
}

extension FieldValue {
    /// Texts are equal when their bytes are (`ExactText`).
    package static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.null, .null), (.unset, .unset): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left.isSame(as: right)
        case (.json(let left), .json(let right)), (.failed(let left), .failed(let right)):
            left == right
        case (.link(let left), .link(let right)), (.append(let left), .append(let right)),
            (.remove(let left), .remove(let right)):
            left == right
        case (.links(let left), .links(let right)): left == right
        case (.splice(let start, let deleted, let ids), .splice(let other, let gone, let others)):
            start == other && deleted == gone && ids == others
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(case: 0, 0)
        case .bool(let value): hasher.combine(case: 1, value)
        case .int(let number): hasher.combine(case: 2, number)
        case .double(let number): hasher.combine(case: 3, number)
        case .string(let text): hasher.combine(case: 4, ExactText(text))
        case .json(let value): hasher.combine(case: 5, value)
        case .link(let id): hasher.combine(case: 6, id)
        case .links(let ids): hasher.combine(case: 7, ids)
        case .failed(let value): hasher.combine(case: 8, value)
        case .unset: hasher.combine(case: 9, 0)
        case .append(let id): hasher.combine(case: 10, id)
        case .remove(let id): hasher.combine(case: 11, id)
        case .splice(let start, let deleted, let ids):
            hasher.combine(case: 12, ids)
            hasher.combine(start)
            hasher.combine(deleted)
        }
    }

    /// The value of a leaf: scalars as they are, lists and objects as JSON.
    package init(leaf value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .int(let value): .int(value)
            case .double(let value): .double(value)
            case .string(let value): .string(value)
            case .array, .object: .json(value)
            }
    }
}

/// Writes a ``WriteSet``, record by record.
package struct WriteSetWriter: Sendable {
    fileprivate var writer = ByteWriter()

    package init() {}

    package var writeSet: WriteSet { WriteSet(wellFormed: writer.bytes) }

    package mutating func write(
        _ id: DataID, type: String, fields: some Sequence<(key: String, value: FieldValue)>
    ) {
        writer.write(byte: WriteOperation.write.rawValue)
        writer.write(counted: id.rawValue)
        writer.write(counted: type)
        for field in fields { write(field.key, field.value) }
        writer.write(byte: FieldTag.end.rawValue)
    }

    package mutating func delete(_ id: DataID) {
        writer.write(byte: WriteOperation.delete.rawValue)
        writer.write(counted: id.rawValue)
    }

    package mutating func forget(_ id: DataID) {
        writer.write(byte: WriteOperation.forget.rawValue)
        writer.write(counted: id.rawValue)
    }

    /// A position in the output.
    package struct Mark {
        fileprivate let sizeBytes: Int
    }

    var mark: Mark { Mark(sizeBytes: writer.bytes.count) }

    /// Removes what was written after the mark.
    mutating func removeAll(behind mark: Mark) {
        writer.bytes.removeLast(writer.bytes.count - mark.sizeBytes)
    }

    /// Adds everything another write set does.
    mutating func append(_ writes: WriteSet) { writer.bytes += writes.bytes }

    private mutating func write(_ key: String, _ value: FieldValue) {
        func begin(_ tag: FieldTag) {
            writer.write(byte: tag.rawValue)
            writer.write(counted: key)
        }
        switch value {
        case .null: begin(.null)
        case .bool(let value): begin(value ? .true : .false)
        case .unset: begin(.unset)
        case .int(let value):
            begin(.int)
            writer.write(signed: value)
        case .double(let value):
            begin(.double)
            writer.write(double: value)
        case .string(let value):
            begin(.string)
            writer.write(counted: value)
        case .json(let value):
            begin(.json)
            writer.write(counted: value.bytes)
        case .failed(let errors):
            begin(.failed)
            writer.write(counted: errors.bytes)
        case .link(let id):
            begin(.link)
            writer.write(counted: id.rawValue)
        case .append(let id):
            begin(.append)
            writer.write(counted: id.rawValue)
        case .remove(let id):
            begin(.remove)
            writer.write(counted: id.rawValue)
        case .links(let ids):
            begin(.links)
            write(ids)
        case .splice(let start, let deleted, let ids):
            begin(.splice)
            writer.write(number: UInt64(max(0, start)))
            writer.write(number: UInt64(max(0, deleted)))
            write(ids)
        }
    }

    private mutating func write(_ ids: [DataID?]) {
        writer.write(number: UInt64(ids.count))
        for id in ids {
            writer.write(byte: id == nil ? 0 : 1)
            if let id { writer.write(counted: id.rawValue) }
        }
    }
}

// MARK: Writing from a row's memory

extension WriteSetWriter {
    mutating func begin(_ id: UnsafeBufferPointer<UInt8>, type: UnsafeBufferPointer<UInt8>) {
        writer.write(byte: WriteOperation.write.rawValue)
        writer.write(counted: id)
        writer.write(counted: type)
    }

    mutating func end() { writer.write(byte: FieldTag.end.rawValue) }

    mutating func delete(_ id: UnsafeBufferPointer<UInt8>) {
        writer.write(byte: WriteOperation.delete.rawValue)
        writer.write(counted: id)
    }

    mutating func forget(_ id: UnsafeBufferPointer<UInt8>) {
        writer.write(byte: WriteOperation.forget.rawValue)
        writer.write(counted: id)
    }

    /// A field's tag and key; its value, if the tag has one, follows.
    mutating func field(_ tag: FieldTag, _ key: UnsafeBufferPointer<UInt8>) {
        writer.write(byte: tag.rawValue)
        writer.write(counted: key)
    }

    mutating func field(_ key: UnsafeBufferPointer<UInt8>, int: Int64) {
        field(.int, key)
        writer.write(signed: int)
    }

    mutating func field(_ key: UnsafeBufferPointer<UInt8>, double: Double) {
        field(.double, key)
        writer.write(double: double)
    }

    mutating func field(
        _ tag: FieldTag, _ key: UnsafeBufferPointer<UInt8>, text: UnsafeBufferPointer<UInt8>
    ) {
        field(tag, key)
        writer.write(counted: text)
    }

    mutating func range(start: Int, deleted: Int) {
        writer.write(number: UInt64(start))
        writer.write(number: UInt64(deleted))
    }

    mutating func links(_ records: some Collection<RecordIndex?>, _ symbols: Symbols) {
        writer.write(number: UInt64(records.count))
        for record in records {
            writer.write(byte: record == nil ? 0 : 1)
            if let record { writer.write(counted: symbols.id(record)) }
        }
    }
}

extension WriteSet {
    /// Takes bytes from a log or a message, after checking their form.
    package init(checking bytes: [UInt8]) throws(MalformedEvent) {
        try Self.forEachRecord(in: bytes) { _ in }
        self.init(wellFormed: bytes)
    }

    /// The ids of the records that are written or deleted, each once, in order.
    package var recordIDs: [String] {
        var ids: [String] = []
        var seen: Set<ExactText> = []
        do throws(MalformedEvent) {
            try Self.forEachRecord(in: bytes) { text in
                let id = String(decoding: text, as: UTF8.self)
                if seen.insert(ExactText(id)).inserted { ids.append(id) }
            }
        } catch {
            preconditionFailure("a WriteSet is checked when it is made: \(error)")
        }
        return ids
    }

    /// Walks through the bytes, which checks them, and passes on the id of each record.
    private static func forEachRecord(
        in bytes: [UInt8], _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(MalformedEvent) {
        let failure = bytes.withUnsafeBytes { bytes -> MalformedEvent? in
            do throws(MalformedEvent) {
                var reader = ByteReader(bytes)
                while !reader.isAtEnd {
                    let operation = try reader.readByte()
                    body(try reader.readText())
                    switch WriteOperation(rawValue: operation) {
                    case .write: try skipFields(&reader)
                    case .delete, .forget: break
                    case nil: throw reader.malformed("a write, a delete or a forget")
                    }
                }
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private static func skipFields(_ reader: inout ByteReader) throws(MalformedEvent) {
        _ = try reader.readText()  // type
        while true {
            guard let tag = FieldTag(rawValue: try reader.readByte()) else {
                throw reader.malformed("a field's tag")
            }
            if tag == .end { return }
            _ = try reader.readText()  // storage key
            switch tag {
            case .end, .null, .true, .false, .unset: break
            case .int: _ = try reader.readNumber()
            case .double: _ = try reader.readDouble()
            case .string, .json, .failed, .link, .append, .remove: _ = try reader.readText()
            case .links: try skipLinks(&reader)
            case .splice:
                _ = try reader.readNumber()
                _ = try reader.readNumber()
                try skipLinks(&reader)
            }
        }
    }

    private static func skipLinks(_ reader: inout ByteReader) throws(MalformedEvent) {
        for _ in 0..<(try reader.readCount()) where try reader.readByte() != 0 {
            _ = try reader.readText()
        }
    }
}
