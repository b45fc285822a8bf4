import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords

/// The source of a payload's fields: the same for a mutation that just ran and for one in the log.
package struct PayloadSource: Sendable {
    package let parent: RecordFinder?
    /// The parent's list that contains the record's edge; nil if there is no edge to show.
    package let list: NameIndex?
    /// Whether the record is deleted, leaving only its id. Nil for Swift code, which may have deleted it.
    let isDeletion: Bool?
    /// The parent's list, if nothing else has changed.
    var changedList: NameIndex?

    /// The payload of a mutation in the log.
    /// - Parameter snapshot: the state right after the response.
    func payload(
        of intent: MutationIntent, _ response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload {
        payload(
            (intent.arguments.object ?? [:]).mutationInput, result: response.result, in: snapshot)
    }

    func payload(
        _ input: JSONObject, result: DataID?, in snapshot: Snapshot
    ) -> MutationPayload {
        var payload = MutationPayload(clientMutationID: input["clientMutationId"])
        if let parent, let value = input[parent.input] {
            payload.parent = parent.find(value, in: snapshot)
        }
        if isDeletion ?? result.map({ snapshot.existing($0.rawValue) == nil }) ?? false {
            payload.deletedID = result?.rawValue
            return payload
        }
        payload.record = result.flatMap { snapshot.existing($0.rawValue) }
        if let list, let record = payload.record, let parent = payload.parent {
            payload.edge = snapshot.edge(to: record, in: list, of: parent)
        }
        return payload
    }
}

extension Snapshot {
    /// The links in a field of a record; empty if there are none.
    func links(_ key: NameIndex, of record: RecordIndex) -> LinkList {
        guard let row = row(record), let slot = row.slot(of: key), row.tag(slot) == .links else {
            return .empty
        }
        return row.links(slot)
    }

    fileprivate func edge(
        to record: RecordIndex, in key: NameIndex, of parent: RecordIndex
    ) -> PayloadEdge? {
        let links = links(key, of: parent)
        // Nearly always it was just added at the end.
        if let last = links.previous(from: links.end - 1), last.record == record {
            return PayloadEdge(
                record: record, position: last.position, key: key, owner: parent)
        }
        return position(of: record, in: key, of: parent)
            .map { PayloadEdge(record: record, position: $0, key: key, owner: parent) }
    }
}
