@_spi(Rooms) import RelayRecords

/// Decodes a snapshot from its canonical bytes (``StateFormat``).
///
/// Any bytes result in a snapshot or an error.
struct StateDecoder {
    private var reader: ByteReader
    private var restorer: SnapshotRestorer
    private let symbols: Symbols
    private var ids: [RecordIndex] = []
    private var names: [NameIndex] = []
    private var shapes: [Shape] = []
    /// The number of records ever created; every record has a smaller number.
    private var creations: UInt64 = 0
    private var version: UInt64 = 0
    private let takesOlderFold: Bool

    /// - Parameter takesOlderFold: also read a state that this fold would not have produced, if there is no
    ///   other way to one.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, indexes: [IndexDefinition], takesOlderFold: Bool = false
    ) throws(MalformedEvent) -> Snapshot {
        var decoder = StateDecoder(bytes, indexes: indexes, takesOlderFold)
        try decoder.readHead()
        try decoder.readRecords()
        try decoder.readDeleted()
        try decoder.readPending()
        try decoder.readClients()
        guard decoder.reader.isAtEnd else {
            throw MalformedEvent(message: "bytes follow the end of the state")
        }
        return decoder.restorer.snapshot
    }

    private init(
        _ bytes: UnsafeRawBufferPointer, indexes: [IndexDefinition], _ takesOlderFold: Bool
    ) {
        self.takesOlderFold = takesOlderFold
        reader = ByteReader(bytes)
        restorer = SnapshotRestorer(indexes: indexes)
        symbols = restorer.snapshot.symbols
    }

    private mutating func readHead() throws(MalformedEvent) {
        version = try reader.readNumber()
        guard StateFormat.versions.contains(UInt32(clamping: version)) else {
            throw MalformedEvent(message: "the state has version \(version)")
        }
        let sequence = try readCounter("the sequence")
        let schema = try reader.readString()
        creations = try readCounter("the count of creations")
        restorer.begin(sequence: sequence, schema: schema, creationCount: creations)
    }

    /// A number that the fold increments. No history is long enough to reach 2^62, and from there it still
    /// could not overflow.
    private mutating func readCounter(_ what: String) throws(MalformedEvent) -> UInt64 {
        let number = try reader.readNumber()
        guard number < 1 << 62 else {
            throw MalformedEvent(message: "\(what) is too high: \(number)")
        }
        return number
    }

    // MARK: Records

    private mutating func readRecords() throws(MalformedEvent) {
        let count = try reader.readCount()
        ids.reserveCapacity(count)
        var creation: UInt64 = 0
        for number in 0..<count {
            let (next, isTooHigh) = creation.addingReportingOverflow(try reader.readNumber())
            guard !isTooHigh, next < creations else {
                throw MalformedEvent(message: "a creation number is too high")
            }
            guard next > creation || number == 0 else {
                throw MalformedEvent(message: "two records have the same creation number")
            }
            creation = next
            let shape = try readShape()
            let record = try readID()
            guard !restorer.exists(record) else {
                throw MalformedEvent(message: "a record stands twice in the state")
            }
            restorer.beginRecord(shape)
            for slot in shape.keys.indices { restorer.set(slot, try readValue()) }
            restorer.endRecord(record, creation: creation)
        }
    }

    private mutating func readShape() throws(MalformedEvent) -> Shape {
        let number = try reader.readNumber()
        guard number == 0 else { return try known(number, of: shapes, "shape") }
        let type = try readName()
        let count = try reader.readCount()
        var keys: [NameIndex] = []
        for _ in 0..<count {
            let key = try readName()
            if let last = keys.last {
                guard
                    symbols.nameText(last)
                        .lexicographicallyPrecedes(symbols.nameText(key))
                else { throw MalformedEvent(message: "the keys of a shape are out of order") }
            }
            keys.append(key)
        }
        let shape = restorer.shape(type: type, keys: keys)
        shapes.append(shape)
        return shape
    }

    private mutating func readValue() throws(MalformedEvent) -> SnapshotRestorer.Value {
        guard let tag = StateFormat.Tag(rawValue: try reader.readByte()) else {
            throw MalformedEvent(message: "a value has an unknown tag")
        }
        return switch tag {
        case .null: .null
        case .false: .bool(false)
        case .true: .bool(true)
        case .int: .int(try reader.readSigned())
        case .double: .double(try reader.readDouble())
        case .string: .string(try reader.readText())
        case .json: .json(try reader.readText())
        case .failed: .failed(try reader.readText())
        case .link: .link(try readID())
        case .links: .links(try readLinks())
        }
    }

    private mutating func readLinks() throws(MalformedEvent) -> LinkList {
        let end = try readCounter("the count of places in a list")
        var list = LinkListBuilder()
        var position: UInt64 = 0
        while position < end {
            switch try reader.readNumber() {
            case StateFormat.Place.holes:
                let count = try reader.readNumber()
                guard count > 0, count <= end - position else {
                    throw MalformedEvent(message: "a list has more holes than places")
                }
                position += count
                continue
            case StateFormat.Place.null:
                list.append(nil, at: Int(position))
            case StateFormat.Place.newID:
                list.append(try readNewID(), at: Int(position))
            case let number:
                let record = try known(number - StateFormat.Place.newID, of: ids, "id")
                list.append(record, at: Int(position))
            }
            position += 1
        }
        return list.finish(end: Int(end))
    }

    private mutating func readID() throws(MalformedEvent) -> RecordIndex {
        let number = try reader.readNumber()
        return number == 0 ? try readNewID() : try known(number, of: ids, "id")
    }

    private mutating func readNewID() throws(MalformedEvent) -> RecordIndex {
        let record = symbols.record(try reader.readText())
        ids.append(record)
        return record
    }

    private mutating func readName() throws(MalformedEvent) -> NameIndex {
        let number = try reader.readNumber()
        if number > 0 { return try known(number, of: names, "name") }
        let name = symbols.name(try reader.readText())
        names.append(name)
        return name
    }

    private func known<Element>(
        _ number: UInt64, of table: [Element], _ what: String
    ) throws(MalformedEvent) -> Element {
        guard number > 0, number <= UInt64(table.count) else {
            throw MalformedEvent(message: "\(what) \(number) is mentioned before it is given")
        }
        return table[Int(number) - 1]
    }

    // MARK: The rest

    private mutating func readDeleted() throws(MalformedEvent) {
        for _ in 0..<(try reader.readCount()) {
            let record = try readID()
            guard !restorer.exists(record) else {
                throw MalformedEvent(message: "a record of the state is also deleted")
            }
            restorer.setDeleted(record)
        }
    }

    private mutating func readPending() throws(MalformedEvent) {
        for _ in 0..<(try reader.readCount()) {
            let sequence = try readCounter("the sequence of a waiting mutation")
            let payload = UnsafeRawBufferPointer(try reader.readText())
            let kind = EventKind.mutation.rawValue
            guard case .mutation(let intent) = try EventBody(kind: kind, payload: payload) else {
                preconditionFailure("an event of the kind of mutations is one")
            }
            restorer.addPending(sequence, intent)
        }
    }

    private mutating func readClients() throws(MalformedEvent) {
        let ledger = LedgerDecoder(
            version: version, sequence: restorer.snapshot.sequence, takesOlderFold: takesOlderFold)
        restorer.setLedger(try ledger.read(&reader))
    }
}
