@_spi(Rooms) import RelayRecords

/// Writes the canonical bytes of a snapshot (``StateFormat``), one chunk at a time.
///
/// It can run on any thread while the store's writer continues, because a snapshot is a value. Besides a
/// chunk, it needs a few bytes per record.
struct StateEncoder {
    private let snapshot: Snapshot
    private let symbols: Symbols
    private let version: UInt32
    private var writer = ByteWriter()
    private var ids: MentionTable
    private var names = MentionTable()
    private var layouts: [ObjectIdentifier: Layout] = [:]
    /// Numbers of shapes, by type and keys.
    private var shapes: [[NameIndex]: UInt64] = [:]

    /// The number of bytes after which a chunk is passed on.
    private static let chunkSize = 1 << 18

    /// - Parameter sink: takes the bytes, in order.
    static func encode<E: Error>(
        _ snapshot: Snapshot, to sink: ([UInt8]) throws(E) -> Void
    ) throws(E) {
        var encoder = StateEncoder(snapshot)
        encoder.writeHead()
        var creation: UInt64 = 0
        for record in snapshot.recordsInCreationOrder() {
            guard let row = snapshot.row(record) else { continue }
            encoder.write(row, of: record, after: creation)
            creation = row.creation
            try encoder.flush(Self.chunkSize, to: sink)
        }
        encoder.writeDeleted()
        encoder.writePending()
        let clients = snapshot.ledger.scopes
        encoder.writer.write(number: UInt64(clients.count))
        for client in clients {
            if let entry = snapshot.ledger.entry(of: client) {
                encoder.writer.write(entry, version: encoder.version)
            }
            try encoder.flush(Self.chunkSize, to: sink)
        }
        try encoder.flush(0, to: sink)
    }

    private init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        symbols = snapshot.symbols
        version = StateFormat.version(of: snapshot)
        ids = MentionTable(capacity: snapshot.recordLimit)
        writer.bytes.reserveCapacity(Self.chunkSize * 2)
    }

    private mutating func flush<E: Error>(
        _ least: Int, to sink: ([UInt8]) throws(E) -> Void
    ) throws(E) {
        guard writer.bytes.count >= least else { return }
        try sink(writer.bytes)
        writer.bytes.removeAll(keepingCapacity: true)
    }

    private mutating func writeHead() {
        writer.write(number: UInt64(version))
        writer.write(number: snapshot.sequence)
        writer.write(counted: snapshot.schema)
        writer.write(number: snapshot.creationCount)
        writer.write(number: UInt64(snapshot.recordCount))
    }

    // MARK: Records

    /// The slots of a shape's rows, ordered by the bytes of their keys.
    private struct Layout {
        let slots: [Int]
        /// The number of the shape with all keys, once a row with all of them has occurred.
        var whole: UInt64?
    }

    private mutating func write(_ row: Row, of record: RecordIndex, after creation: UInt64) {
        writer.write(number: row.creation - creation)
        let slots = writeShape(row)
        write(record)
        for slot in slots { writeValue(row, slot) }
    }

    /// - Returns: the slots that have a value, in order.
    private mutating func writeShape(_ row: Row) -> [Int] {
        let shape = row.shape
        let layout = layouts[ObjectIdentifier(shape)] ?? makeLayout(shape)
        if layout.slots.allSatisfy({ row.tag($0) != .absent }) {
            if let number = layout.whole {
                writer.write(number: number)
            } else {
                let number = writeShape(shape, layout.slots)
                layouts[ObjectIdentifier(shape)]?.whole = number
            }
            return layout.slots
        }
        let present = layout.slots.filter { row.tag($0) != .absent }
        _ = writeShape(shape, present)
        return present
    }

    private mutating func makeLayout(_ shape: Shape) -> Layout {
        let slots = shape.keys.indices.sorted {
            symbols.nameText(shape.keys[$0])
                .lexicographicallyPrecedes(symbols.nameText(shape.keys[$1]))
        }
        let layout = Layout(slots: slots, whole: nil)
        layouts[ObjectIdentifier(shape)] = layout
        return layout
    }

    private mutating func writeShape(_ shape: Shape, _ slots: [Int]) -> UInt64 {
        let identity = [shape.type] + slots.map { shape.keys[$0] }
        if let number = shapes[identity] {
            writer.write(number: number)
            return number
        }
        let number = UInt64(shapes.count) + 1
        shapes[identity] = number
        writer.write(number: 0)
        write(shape.type)
        writer.write(number: UInt64(slots.count))
        for slot in slots { write(shape.keys[slot]) }
        return number
    }

    private mutating func writeValue(_ row: Row, _ slot: Int) {
        func begin(_ tag: StateFormat.Tag) { writer.write(byte: tag.rawValue) }
        switch row.tag(slot) {
        case .absent: break  // not among the slots
        case .null: begin(.null)
        case .false: begin(.false)
        case .true: begin(.true)
        case .int:
            begin(.int)
            writer.write(signed: row.int(slot))
        case .double:
            begin(.double)
            writer.write(double: row.double(slot))
        case .string:
            begin(.string)
            row.withText(slot) { writer.write(counted: $0) }
        case .json:
            begin(.json)
            row.withText(slot) { writer.write(counted: $0) }
        case .failed:
            begin(.failed)
            row.withText(slot) { writer.write(counted: $0) }
        case .link:
            begin(.link)
            write(row.link(slot))
        case .links:
            begin(.links)
            write(row.links(slot))
        }
    }

    private mutating func write(_ list: LinkList) {
        writer.write(number: UInt64(list.end))
        var next = 0
        list.forEachLink { position, record in
            writeHoles(position - next)
            next = position + 1
            guard let record else { return writer.write(number: StateFormat.Place.null) }
            if let number = ids.mention(record.rawValue) {
                writer.write(number: StateFormat.Place.newID + number)
            } else {
                writer.write(number: StateFormat.Place.newID)
                writer.write(counted: symbols.id(record))
            }
        }
        writeHoles(list.end - next)
    }

    private mutating func writeHoles(_ count: Int) {
        guard count > 0 else { return }
        writer.write(number: StateFormat.Place.holes)
        writer.write(number: UInt64(count))
    }

    private mutating func write(_ record: RecordIndex) {
        if let number = ids.mention(record.rawValue) { return writer.write(number: number) }
        writer.write(number: 0)
        writer.write(counted: symbols.id(record))
    }

    private mutating func write(_ name: NameIndex) {
        if let number = names.mention(name.rawValue) { return writer.write(number: number) }
        writer.write(number: 0)
        writer.write(counted: symbols.nameText(name))
    }

    // MARK: The rest

    private mutating func writeDeleted() {
        let deleted = snapshot.deletedRecords().sorted {
            symbols.id($0).lexicographicallyPrecedes(symbols.id($1))
        }
        writer.write(number: UInt64(deleted.count))
        for record in deleted { write(record) }
    }

    private mutating func writePending() {
        writer.write(number: UInt64(snapshot.pending.count))
        for mutation in snapshot.pending {
            writer.write(number: mutation.sequence)
            writer.write(counted: EventBody.mutation(mutation.intent).payload)
        }
    }
}

/// Numbers what is mentioned, from 1, in order of first mention.
private struct MentionTable {
    /// By index; 0 if not mentioned yet.
    private var numbers: [UInt32]
    private var count: UInt32 = 0

    init(capacity: Int = 0) { numbers = Array(repeating: 0, count: capacity) }

    /// The number of an index, or nil if this is its first mention.
    mutating func mention(_ index: UInt32) -> UInt64? {
        let place = Int(index)
        if place >= numbers.count {
            let growth = max(place + 1 - numbers.count, numbers.count / 2)
            numbers.append(contentsOf: repeatElement(0, count: growth))
        }
        if numbers[place] > 0 { return UInt64(numbers[place]) }
        count += 1
        numbers[place] = count
        return nil
    }
}
