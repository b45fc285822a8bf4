import Console
import EventStore
@_spi(Rooms) import RelayRecords

/// A record, or one field of it, as `RECORD` or `RECORD.field` names it.
///
/// Ids and storage keys may have dots in them, so what the log knows decides: the longest beginning
/// that is the id of a record is the record.
struct RecordPath {
    /// All that a text may mean, the longest record first.
    static func targets(_ text: String) -> [BlameTarget] {
        [BlameTarget(record: text)]
            + text.indices.reversed().filter { text[$0] == "." }.map { dot in
                BlameTarget(
                    record: String(text[..<dot]), field: String(text[text.index(after: dot)...]))
            }
    }

    let record: String
    /// The storage key; nil for the whole record.
    let field: String?

    /// - Parameter isRecord: whether there is, or ever was, a record with this id.
    /// - Throws: when nothing in the text is a record.
    init(_ text: String, isRecord: (String) -> Bool) throws {
        if isRecord(text) {
            (record, field) = (text, nil)
            return
        }
        for dot in text.indices.reversed() where text[dot] == "." {
            let id = String(text[..<dot])
            guard isRecord(id) else { continue }
            (record, field) = (id, String(text[text.index(after: dot)...]))
            return
        }
        throw CommandFailure("There is no record \(text).")
    }
}
