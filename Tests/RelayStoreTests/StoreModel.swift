import RelayArtifacts
import RelayJSON

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// One thing that an updater does, to the store and to the model alike.
enum ModelWrite: CustomStringConvertible {
    case create(String)
    case set(String, String, Int)
    /// Depends on what is below it: the reason for rebasing.
    case add(String, String, Int)
    case link(String, String)
    case delete(String)
    case throwIfMissing(String)

    struct Missing: Error {}

    func run(_ source: inout any RecordSourceProxy) throws {
        switch self {
        case .create(let id): _ = source.create(dataID: DataID(id), typeName: "Todo")
        case .set(let id, let key, let value): source[DataID(id)]?[key] = value
        case .add(let id, let key, let value):
            guard let record = source[DataID(id)] else { return }
            record[key] = (record[key] as? Int ?? 0) + value
        case .link(let id, let target):
            guard let record = source[DataID(id)], let other = source[DataID(target)] else {
                return
            }
            record.setLinkedRecord("author", record: other)
        case .delete(let id): source.delete(dataID: DataID(id))
        case .throwIfMissing(let id): if source[DataID(id)] == nil { throw Missing() }
        }
    }

    func run(_ records: inout StoreModel.Records) throws {
        switch self {
        case .create(let id): records[id] = records[id] ?? [:]
        case .set(let id, let key, let value): records[id]?[key] = .int(Int64(value))
        case .add(let id, let key, let value):
            guard let record = records[id] else { return }
            var old: Int64 = 0
            if case .int(let number)? = record[key] { old = number }
            records[id]?[key] = .int(old + Int64(value))
        case .link(let id, let target):
            if records[target] != nil { records[id]?["author"] = .link(DataID(target)) }
        case .delete(let id): records[id] = nil
        case .throwIfMissing(let id): if records[id] == nil { throw Missing() }
        }
    }

    var description: String {
        switch self {
        case .create(let id): "create \(id)"
        case .set(let id, let key, let value): "\(id).\(key) = \(value)"
        case .add(let id, let key, let value): "\(id).\(key) += \(value)"
        case .link(let id, let target): "\(id).author -> \(target)"
        case .delete(let id): "delete \(id)"
        case .throwIfMissing(let id): "need \(id)"
        }
    }
}

/// What a store ought to show, by folding everything from the start each time it is asked.
struct StoreModel {
    typealias Records = [String: [String: FieldValue]]

    /// Confirmed, in order; each was accepted.
    var confirmed: [[ModelWrite]] = []
    /// Live, in order.
    var entries: [(id: OptimisticEntryID, writes: [ModelWrite])] = []

    func confirmedRecords() -> Records {
        var records = Records()
        for writes in confirmed { try? Self.run(writes, &records) }
        return records
    }

    func shownRecords() -> Records {
        var records = confirmedRecords()
        for entry in entries {
            var next = records
            if (try? Self.run(entry.writes, &next)) != nil { records = next }
        }
        return records
    }

    static func run(_ writes: [ModelWrite], _ records: inout Records) throws {
        for write in writes { try write.run(&records) }
    }
}

extension Snapshot {
    /// Everything that exists, for comparison with the model.
    var modelRecords: StoreModel.Records {
        var records = StoreModel.Records()
        for record in recordsInCreationOrder() {
            guard let json = recordJSON(record) else { continue }
            records[json.id.rawValue] = Dictionary(
                json.fields.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        }
        return records
    }
}
