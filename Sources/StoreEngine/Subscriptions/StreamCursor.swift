import Digests
@_spi(Rooms) import RelayRecords

/// A place in the history of one store: what `extensions.relay.cursor` says.
///
/// Opaque to clients, and sortable as text: store id, epoch and sequence in hexadecimal of fixed width.
struct StreamCursor: Hashable, Sendable {
    let storeID: String
    let epoch: UInt64
    let sequence: UInt64

    var text: String { "\(storeID)-\(epoch.hexadecimal)-\(sequence.hexadecimal)" }
}

extension StreamCursor {
    /// Nil when the text is not what ``text`` writes, to the digit: one that was cut short names no other place.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let epoch = UInt64(parts[1], radix: 16),
            let sequence = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(storeID: String(parts[0]), epoch: epoch, sequence: sequence)
        guard self.text == text else { return nil }
    }
}

/// Which history this is, and how much of it is kept.
struct StoreIdentity: Sendable {
    let storeID: String
    let epoch: UInt64
    /// The earliest event behind which a stream can go on.
    let earliest: UInt64

    func cursor(_ sequence: UInt64) -> StreamCursor {
        StreamCursor(storeID: storeID, epoch: epoch, sequence: sequence)
    }

    /// Whether a cursor is one of this history, and everything behind it is kept.
    /// - Parameter last: the last event there is.
    func has(_ cursor: StreamCursor, through last: UInt64) -> Bool {
        cursor.storeID == storeID && cursor.epoch == epoch
            && (earliest...max(earliest, last)).contains(cursor.sequence)
    }
}
