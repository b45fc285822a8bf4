@_spi(Rooms) import RelayRecords

// The part of a state's bytes that describes clients whose mutations have ids (``StateFormat``).

extension MutationLedger.Entry {
    /// Whether the first version of the format can represent it: nothing of it was dropped, and nothing is
    /// known beyond the answers.
    var isPlain: Bool {
        scope.viewer == nil && applied.isEmpty && !answers.isEmpty
            && answers.allSatisfy { $0.answer.fingerprint == nil }
            && answers.contains { $0.answer.sequence == lastSequence }
    }
}

extension ByteWriter {
    /// - Parameter version: of the state.
    mutating func write(_ entry: MutationLedger.Entry, version: UInt32) {
        write(counted: entry.scope.client)
        if version == 1 {
            write(number: 0)
        } else {
            write(counted: entry.scope.viewer.map { "1" + $0 } ?? "")
            write(number: entry.lastSequence)
            write(number: entry.applied.unknownThrough == nil ? 0 : 1)
            if let unknown = entry.applied.unknownThrough { write(number: unknown) }
            write(number: UInt64(entry.applied.ranges.count))
            for range in entry.applied.ranges {
                write(number: range.lowerBound)
                write(number: range.upperBound - range.lowerBound)
            }
        }
        write(number: UInt64(entry.answers.count))
        for (number, answer) in entry.answers {
            write(number: number)
            write(number: answer.sequence)
            if version > 1 { write(counted: answer.fingerprint?.bytes ?? []) }
            write(counted: answer.bytes)
        }
    }
}

/// Reads the clients of a state.
struct LedgerDecoder {
    let version: UInt64
    /// The last event folded in.
    let sequence: UInt64
    /// Accepts a state from an older fold, which recorded only the highest number of older mutations.
    let takesOlderFold: Bool

    func read(_ reader: inout ByteReader) throws(MalformedEvent) -> MutationLedger {
        var entries: [MutationLedger.Entry] = []
        for _ in 0..<(try reader.readCount()) {
            let entry = try readEntry(&reader)
            if let last = entries.last?.scope, !last.precedes(entry.scope) {
                throw MalformedEvent(message: "the clients of the state are out of order")
            }
            entries.append(entry)
        }
        let ledger = MutationLedger(entries)
        guard version > 1 || takesOlderFold || ledger.isWithinLimits else { throw Self.olderFold }
        return ledger
    }

    private static let olderFold = MalformedEvent(
        message: "an older version of this program made it, which kept mutation ids in another way")

    private func readEntry(_ reader: inout ByteReader) throws(MalformedEvent)
        -> MutationLedger.Entry
    {
        let client = try reader.readString()
        if version == 1 {
            let applied = try readDropped(&reader)
            let answers = try readAnswers(&reader)
            return MutationLedger.Entry(
                scope: MutationScope(viewer: nil, client: client),
                lastSequence: answers.map(\.answer.sequence).max() ?? 0, applied: applied,
                answers: answers)
        }
        let viewer = try readViewer(&reader)
        let last = try reader.readNumber()
        guard last <= sequence else {
            throw MalformedEvent(message: "a client has an answer of event \(last), which is later")
        }
        let applied = try readApplied(&reader)
        return MutationLedger.Entry(
            scope: MutationScope(viewer: viewer, client: client), lastSequence: last,
            applied: applied, answers: try readAnswers(&reader))
    }

    private func readViewer(_ reader: inout ByteReader) throws(MalformedEvent) -> String? {
        let text = try reader.readString()
        guard text.isEmpty || text.hasPrefix("1") else {
            throw MalformedEvent(message: "a client's viewer is neither named nor unnamed")
        }
        return text.isEmpty ? nil : String(text.dropFirst())
    }

    /// What an older fold dropped: everything up to a number, as if all of it had been applied.
    private func readDropped(_ reader: inout ByteReader) throws(MalformedEvent) -> NumberRanges {
        let end = try reader.readNumber()
        if end == 0 { return NumberRanges() }
        guard takesOlderFold, let unknown = NumberRanges([], unknownThrough: end - 1) else {
            throw Self.olderFold
        }
        return unknown
    }

    private func readApplied(_ reader: inout ByteReader) throws(MalformedEvent) -> NumberRanges {
        let unknown = try reader.readNumber() == 0 ? nil : try reader.readNumber()
        var ranges: [ClosedRange<UInt64>] = []
        for _ in 0..<(try reader.readCount()) {
            let first = try reader.readNumber()
            let (last, isTooHigh) = first.addingReportingOverflow(try reader.readNumber())
            guard !isTooHigh else { throw MalformedEvent(message: "a range is too long") }
            ranges.append(first...last)
        }
        guard let applied = NumberRanges(ranges, unknownThrough: unknown) else {
            throw MalformedEvent(message: "the ranges of a client are out of order")
        }
        return applied
    }

    private func readAnswers(
        _ reader: inout ByteReader
    ) throws(MalformedEvent) -> [(number: UInt64, answer: MutationLedger.Answer)] {
        var answers: [(number: UInt64, answer: MutationLedger.Answer)] = []
        for _ in 0..<(try reader.readCount()) {
            let number = try reader.readNumber()
            if let last = answers.last?.number, number <= last {
                throw MalformedEvent(message: "the answers of a client are out of order")
            }
            let sequence = try reader.readNumber()
            guard sequence <= self.sequence else {
                throw MalformedEvent(message: "an answer is of event \(sequence), which is later")
            }
            let fingerprint = version == 1 ? nil : try readFingerprint(&reader)
            let bytes = try reader.readBytes()
            answers.append(
                (number, .init(sequence: sequence, bytes: bytes, fingerprint: fingerprint)))
        }
        return answers
    }

    private func readFingerprint(
        _ reader: inout ByteReader
    ) throws(MalformedEvent) -> MutationFingerprint? {
        let bytes = try reader.readBytes()
        if bytes.isEmpty { return nil }
        guard let fingerprint = MutationFingerprint(joined: bytes) else {
            throw MalformedEvent(message: "a fingerprint has \(bytes.count) bytes")
        }
        return fingerprint
    }
}
