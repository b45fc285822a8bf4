/// The bytes of an event's body in the log: a list of parts, each a number, a count and that many bytes.
///
/// A reader skips parts with unknown numbers, so that a newer minor version may add some. The kind, the
/// sequence and the time are in the frame, not here. docs/log-format.md lists the parts.
extension EventBody {
    /// The number of the kind in the log.
    package var kind: UInt8 {
        switch self {
        case .genesis: EventKind.genesis.rawValue
        case .schema: EventKind.schema.rawValue
        case .mutation: EventKind.mutation.rawValue
        case .response: EventKind.response.rawValue
        case .revocation: EventKind.revocation.rawValue
        case .update: EventKind.update.rawValue
        case .unknown(let kind, _): kind
        }
    }

    package var payload: [UInt8] {
        var parts = PartWriter()
        switch self {
        case .genesis(let schema, let seed):
            parts.add(1, schema)
            parts.add(2, seed.bytes)
        case .schema(let schema):
            parts.add(1, schema)
        case .mutation(let intent):
            parts.add(1, intent.field)
            parts.add(2, intent.argumentBytes)
            if let name = intent.operationName { parts.add(3, name) }
            if let id = intent.mutationID { parts.add(4, id.description) }
            if let viewer = intent.viewer { parts.add(5, viewer) }
            if let optimistic = intent.optimistic { parts.add(6, optimistic.bytes) }
            if intent.interruptionCount > 0 { parts.add(7, intent.interruptionCount) }
            if let fingerprint = intent.fingerprint {
                parts.add(8, fingerprint.askedBytes)
                if !fingerprint.claimBytes.isEmpty { parts.add(9, fingerprint.claimBytes) }
            }
        case .response(let response):
            parts.add(1, response.mutation)
            parts.add(2, response.writes.bytes)
            if let result = response.result { parts.add(3, result.rawValue) }
            if let answer = response.answer { parts.add(4, answer) }
            if response.isByProgram { parts.add(5, 1) }
            parts.add(7, response.rebased)
        case .revocation(let revocation):
            parts.add(1, revocation.mutation)
            parts.add(2, revocation.reason)
            parts.add(7, revocation.rebased)
        case .update(let update):
            parts.add(1, update.name)
            parts.add(2, update.writes.bytes)
            if let mutation = update.interrupted { parts.add(3, mutation) }
            parts.add(7, update.rebased)
        case .unknown(_, let payload):
            return payload
        }
        return parts.writer.bytes
    }

    /// Decodes a body. Every part is checked, including the form of write sets.
    package init(kind: UInt8, payload: UnsafeRawBufferPointer) throws(MalformedEvent) {
        guard let known = EventKind(rawValue: kind) else {
            self = .unknown(kind: kind, payload: Array(payload))
            return
        }
        let parts = try PartReader(payload, kind: known)
        switch known {
        case .genesis:
            self = .genesis(
                schema: try parts.required(1, "the schema").string,
                seed: try parts.required(2, "the seed").writeSet())
        case .schema:
            self = .schema(try parts.required(1, "the schema").string)
        case .mutation:
            self = .mutation(
                MutationIntent(
                    operationName: parts[3]?.string,
                    field: try parts.required(1, "the field").string,
                    argumentBytes: Array(try parts.required(2, "the arguments").bytes),
                    mutationID: try parts[4]?.mutationID(),
                    viewer: parts[5]?.string,
                    optimistic: try parts[6]?.writeSet(),
                    interruptionCount: try parts[7]?.number() ?? 0,
                    fingerprint: try parts[8]?.fingerprint(claims: parts[9])))
        case .response:
            self = .response(
                MutationResponse(
                    mutation: try parts.required(1, "the mutation").number(),
                    writes: try parts.required(2, "the write set").writeSet(),
                    result: (parts[3]?.string).map(DataID.init(rawValue:)),
                    answer: parts[4].map { Array($0.bytes) },
                    isByProgram: try parts[5]?.number() == 1,
                    rebased: try parts[7]?.rebasedEntries() ?? []))
        case .revocation:
            self = .revocation(
                Revocation(
                    mutation: try parts.required(1, "the mutation").number(),
                    reason: try parts.required(2, "the reason").string,
                    rebased: try parts[7]?.rebasedEntries() ?? []))
        case .update:
            var update = LocalUpdate(
                name: try parts.required(1, "the name").string,
                writes: try parts.required(2, "the write set").writeSet(),
                rebased: try parts[7]?.rebasedEntries() ?? [])
            update.interrupted = try parts[3]?.number()
            self = .update(update)
        }
    }
}

private struct PartWriter {
    var writer = ByteWriter()

    mutating func add(_ number: UInt8, _ text: String) {
        writer.write(byte: number)
        writer.write(counted: text)
    }

    mutating func add(_ number: UInt8, _ bytes: [UInt8]) {
        writer.write(byte: number)
        writer.write(counted: bytes)
    }

    mutating func add(_ number: UInt8, _ value: UInt64) {
        var coded = ByteWriter()
        coded.write(number: value)
        add(number, coded.bytes)
    }

    /// A count, then that many sequences and counted write sets; omitted if there are none.
    mutating func add(_ number: UInt8, _ rebased: [RebasedEntry]) {
        if rebased.isEmpty { return }
        var coded = ByteWriter()
        coded.write(number: UInt64(rebased.count))
        for entry in rebased {
            coded.write(number: entry.mutation)
            coded.write(counted: entry.writes.bytes)
        }
        add(number, coded.bytes)
    }
}

/// The parts of one payload, by their numbers, in place.
private struct PartReader {
    struct Part {
        let bytes: UnsafeBufferPointer<UInt8>

        var string: String { String(decoding: bytes, as: UTF8.self) }

        func number() throws(MalformedEvent) -> UInt64 {
            var reader = ByteReader(UnsafeRawBufferPointer(bytes))
            return try reader.readNumber()
        }

        func writeSet() throws(MalformedEvent) -> WriteSet {
            try WriteSet(checking: Array(bytes))
        }

        func rebasedEntries() throws(MalformedEvent) -> [RebasedEntry] {
            var reader = ByteReader(UnsafeRawBufferPointer(bytes))
            var entries: [RebasedEntry] = []
            for _ in 0..<(try reader.readCount()) {
                let mutation = try reader.readNumber()
                let writes = try WriteSet(checking: try reader.readBytes())
                entries.append(RebasedEntry(mutation: mutation, writes: writes))
            }
            return entries
        }

        func mutationID() throws(MalformedEvent) -> MutationID {
            guard let id = MutationID(string) else {
                throw MalformedEvent(message: "\"\(string)\" is not a mutation id")
            }
            return id
        }

        func fingerprint(claims: Part?) throws(MalformedEvent) -> MutationFingerprint {
            let claims = claims.map { Array($0.bytes) } ?? []
            guard let fingerprint = MutationFingerprint(bytes, claims: claims) else {
                let wrong =
                    bytes.count == MutationFingerprint.size ? claims.count : bytes.count
                throw MalformedEvent(
                    message:
                        "a fingerprint has \(wrong) bytes instead of \(MutationFingerprint.size)")
            }
            return fingerprint
        }
    }

    private var parts: [Part?] = Array(repeating: nil, count: 10)
    private let kind: EventKind

    init(_ payload: UnsafeRawBufferPointer, kind: EventKind) throws(MalformedEvent) {
        self.kind = kind
        var reader = ByteReader(payload)
        while !reader.isAtEnd {
            let number = Int(try reader.readByte())
            let part = Part(bytes: try reader.readText())
            if number < parts.count { parts[number] = part }
        }
    }

    subscript(number: Int) -> Part? { parts[number] }

    func required(_ number: Int, _ name: String) throws(MalformedEvent) -> Part {
        guard let part = parts[number] else {
            throw MalformedEvent(message: "a \(kind.name) event lacks \(name)")
        }
        return part
    }
}
