import Digests
@_spi(Rooms) import RelayRecords

/// A position in the history of one store: `extensions.relay.cursor`.
///
/// Opaque to clients, and sortable as text: store id, epoch and sequence, the numbers in fixed-width
/// hexadecimal.
struct StreamCursor: Hashable, Sendable {
    let storeID: String
    let epoch: UInt64
    let sequence: UInt64

    var text: String { "\(storeID)-\(epoch.hexadecimal)-\(sequence.hexadecimal)" }
}

extension StreamCursor {
    /// Nil unless the text is exactly what ``text`` writes, so that a truncated cursor does not name another
    /// position.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let epoch = UInt64(parts[1], radix: 16),
            let sequence = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(storeID: String(parts[0]), epoch: epoch, sequence: sequence)
        guard self.text == text else { return nil }
    }
}

/// Identifies a history, and how much of it is kept.
struct StoreIdentity: Sendable {
    let storeID: String
    let epoch: UInt64
    /// The earliest event after which a stream can resume.
    let earliest: UInt64

    func cursor(_ sequence: UInt64) -> StreamCursor {
        StreamCursor(storeID: storeID, epoch: epoch, sequence: sequence)
    }

    /// Whether a cursor belongs to this history, and everything after it is kept.
    /// - Parameter last: the last event there is.
    func has(_ cursor: StreamCursor, through last: UInt64) -> Bool {
        cursor.storeID == storeID && cursor.epoch == epoch
            && (earliest...max(earliest, last)).contains(cursor.sequence)
    }
}
