import RelayJSON
import ResultPatches

/// What a live result shows only because mutations that wait are expected to do it.
struct Unconfirmed: Sendable, Equatable {
    /// The ids of the objects that the result shows otherwise than what is confirmed, or that are not there, in order; nil
    /// if they are not known, or more than ``countLimit`` or ``byteLimit``.
    let records: [ExactText]?

    private static let idKey: ExactText = "id"
    static let countLimit = 1_000
    static let byteLimit = 64 << 10

    init(records: [ExactText]?) { self.records = records }

    /// - Parameters:
    ///   - shown: the records of the result.
    ///   - confirmed: those of the same result without what is expected.
    init(in shown: ResultRecords, beyond confirmed: ResultRecords) {
        var ids: [ExactText] = []
        var byteCount = 0
        for (id, fields) in shown.records where confirmed.records[id] != fields {
            // Others stand for places in objects, and clients know them by other names.
            guard let own = fields[Self.idKey]?.string, ExactText(own) == id else { continue }
            ids.append(id)
            byteCount += id.text.utf8.count
            if ids.count > Self.countLimit || byteCount > Self.byteLimit {
                records = nil
                return
            }
        }
        records = ids.sorted()
    }

    var approximateByteCount: Int {
        records?.reduce(64) { $0 + 32 + $1.text.utf8.count } ?? 0
    }
}
