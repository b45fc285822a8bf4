package import RelayJSON
@_spi(Rooms) package import RelayRecords
import Threads

/// A field's value, computed by Swift code from what a snapshot holds.
package protocol CustomFieldResolver: Sendable {
    /// The value: a leaf in the form of the schema's type, a record as its id, an object that is not a record as its
    /// members (with `__typename` if the field's type is abstract), or a list of any of these.
    /// - Throws: any error; an ``ExecutionError`` keeps its code.
    func resolve(_ call: FieldCall) throws -> JSONValue
}

/// The inputs of a computed field.
package struct FieldCall: Sendable {
    /// The object that has the field.
    package let object: ObjectValue
    /// Coerced.
    package let arguments: JSONObject
    /// Who asks.
    package let identity: Identity
    package let snapshot: Snapshot
    /// Records what is read; nil if that is not tracked.
    package let reads: ReadLog?
}

/// What Swift code has read from a snapshot, so that a live result is sent again when it changes.
///
/// A class, because all the readers that a computed field hands out write to the same one.
package final class ReadLog: Sendable {
    private struct Reads {
        var records: [RecordIndex: Set<NameIndex>] = [:]
        var types: [NameIndex: Set<NameIndex>] = [:]
        var missing: Set<ExactText> = []
    }

    private let reads = Lock(Reads())

    init() {}

    /// Notes that fields of a record were read; with no fields, only its existence counts.
    package func note(_ record: RecordIndex, _ keys: some Sequence<NameIndex>) {
        reads.withLock { $0.records[record, default: []].formUnion(keys) }
    }

    /// Notes that records of a type were searched: all, or those with some value under a unique key.
    package func note(type: NameIndex, key: NameIndex? = nil) {
        reads.withLock { reads in
            var keys = reads.types[type] ?? []
            if let key { keys.insert(key) }
            reads.types[type] = keys
        }
    }

    /// Notes that there was no record with this id.
    package func note(missing id: String) {
        reads.withLock { _ = $0.missing.insert(ExactText(id)) }
    }

    var records: [(record: RecordIndex, keys: [NameIndex])] {
        reads.withLock { $0.records.map { ($0.key, Array($0.value)) } }
    }

    /// With the keys that they were searched by.
    var types: [NameIndex: Set<NameIndex>] { reads.withLock { $0.types } }

    var missing: [String] { reads.withLock { $0.missing.map(\.text) } }
}
