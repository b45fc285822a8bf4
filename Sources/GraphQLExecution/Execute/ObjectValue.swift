package import GraphQLLanguage
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// An object that a selection set is executed on.
package enum ObjectValue: Sendable {
    /// The root of a query, mutation or subscription.
    case root
    case record(RecordIndex)
    case connection(ConnectionPage)
    case edge(ConnectionEdge)
    case pageInfo(ConnectionPage)
    case payload(MutationPayload)
    /// A value from Swift code: the members of an object that is not a record, or, as the source of
    /// a subscription's event, any value.
    case value(JSONValue)
    /// A part of the schema, as introspection shows it.
    case introspection(IntrospectionObject)
}

/// One edge of a connection: a link, and its place in the list.
package struct ConnectionEdge: Sendable, Hashable {
    package let record: RecordIndex?
    package let position: Int
    let list: ListMark
    /// Its record is visible: only such ones are on a page.
    var isVisible = false
}

/// The edge that a mutation has added: a link, and its place in the list of a record.
package struct PayloadEdge: Sendable, Hashable {
    package let record: RecordIndex
    package let position: Int
    /// The field that holds the list.
    package let key: NameIndex
    package let owner: RecordIndex

    package init(record: RecordIndex, position: Int, key: NameIndex, owner: RecordIndex) {
        self.record = record
        self.position = position
        self.key = key
        self.owner = owner
    }
}

/// What the fields of a mutation's payload type are filled from.
package struct MutationPayload: Sendable, Hashable {
    /// The record that was created or changed.
    package var record: RecordIndex?
    /// The new link in the list that the record was added to.
    package var edge: PayloadEdge?
    package var parent: RecordIndex?
    package var deletedID: String?
    package var clientMutationID: JSONValue?

    package init(
        record: RecordIndex? = nil, edge: PayloadEdge? = nil, parent: RecordIndex? = nil,
        deletedID: String? = nil, clientMutationID: JSONValue? = nil
    ) {
        self.record = record
        self.edge = edge
        self.parent = parent
        self.deletedID = deletedID
        self.clientMutationID = clientMutationID
    }
}
