package import RelayJSON

/// The records of one result, each field in the form that seed files use: patches are made from them and
/// applied to them.
package struct ResultRecords: Sendable, Equatable {
    package static let rootID: ExactText = "client:root"
    package static let typeKey: ExactText = "__typename"

    /// By id, then by storage key.
    package var records: [ExactText: [ExactText: JSONValue]] = [:]

    package init() {}

    /// Sets fields of a record, which exists from then on, even if there are none.
    /// - Returns: whether fields that the record had already keep their values.
    @discardableResult
    package mutating func merge(_ fields: [ExactText: JSONValue], into id: ExactText) -> Bool {
        guard var record = records.updateValue(fields, forKey: id) else { return true }
        var agrees = true
        record.merge(fields) { old, new in
            agrees = agrees && old == new
            return new
        }
        records[id] = record
        return agrees
    }

    /// As JSON text, keys sorted.
    package static func write(_ fields: [ExactText: JSONValue], to writer: inout JSONWriter) {
        writer.raw(UInt8(ascii: "{"))
        for (place, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
            if place > 0 { writer.raw(UInt8(ascii: ",")) }
            writer.write(field.key.text)
            writer.raw(UInt8(ascii: ":"))
            writer.write(field.value)
        }
        writer.raw(UInt8(ascii: "}"))
    }
}
