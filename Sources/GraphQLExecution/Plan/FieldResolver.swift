package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// How the value of one field of one type is resolved. Decided once per schema, by the schema service.
///
/// A closed set, so that execution is a switch over bytes and numbers; everything that a directive of the
/// schema can express is here, everything else is ``custom(_:)``.
package enum FieldResolver: Sendable {
    /// The value that the record holds under this key: a scalar, a link, or links, depending on the field's type.
    case stored(NameIndex)
    /// The record's id.
    case id
    /// The name of the object's type, as JSON.
    case typename([UInt8])
    /// The record that an argument names by its id or by a unique field.
    case lookup(Lookup)
    /// Query.nodes: for each id in the argument the record, or null.
    case nodes(argument: String)
    /// A page of links, by the Cursor Connections specification.
    case connection(LinkSource, filters: [LinkFilter])
    /// All links, as a plain list.
    case links(LinkSource, filters: [LinkFilter])
    /// How many links of a field lead to a record that matches.
    case count(LinkCountPlan)
    /// A field of a connection, an edge or a `PageInfo`.
    case connectionPart(ConnectionPart)
    /// A field of a mutation's payload.
    case payloadPart(PayloadPart)
    /// What the caller of the execution passes in: a mutation's payload, a subscription's event.
    case source
    /// A member of an object that is not a record.
    case member(String)
    /// A field of the introspection types, or `__schema` or `__type`.
    case introspection
    /// Swift code.
    case custom(any CustomFieldResolver)
}

extension FieldResolver {
    /// Whether the field's value is part of the object itself: in an object from Swift code it is the
    /// member of that name, whatever the field is in a record, a connection or a payload.
    var readsItsObject: Bool {
        switch self {
        case .stored, .id, .count, .connectionPart, .payloadPart, .member,
            .connection(.field, _), .links(.field, _):
            true
        case .typename, .lookup, .nodes, .source, .introspection, .custom,
            .connection(.records, _), .links(.records, _):
            false
        }
    }
}

/// Where links come from.
package enum LinkSource: Sendable, Hashable {
    /// A field of the record.
    case field(NameIndex)
    /// All records of a type, in creation order.
    case records(type: NameIndex)
}

/// An argument named like a field of the node: if it is given and not null, nodes must have its value.
package struct LinkFilter: Sendable, Hashable {
    package let argument: String
    package let key: NameIndex
    /// The field is a link, and the argument names the linked record.
    package let lookup: Lookup?

    package init(argument: String, key: NameIndex, lookup: Lookup? = nil) {
        self.argument = argument
        self.key = key
        self.lookup = lookup
    }
}

/// A value that a field of a linked record must have.
package struct LinkCondition: Sendable, Hashable {
    package let key: NameIndex
    package let value: JSONValue
    /// The field is a link, and the value names the linked record.
    package let lookup: Lookup?

    package init(key: NameIndex, value: JSONValue, lookup: Lookup? = nil) {
        self.key = key
        self.value = value
        self.lookup = lookup
    }
}

/// What a count counts.
package struct LinkCountPlan: Sendable, Hashable {
    /// The name of the count that the store keeps; nil if it is counted link by link, for conditions that follow links.
    package let name: NameIndex?
    /// The list.
    package let key: NameIndex
    package let conditions: [LinkCondition]
    /// The types of the records in the list.
    package let nodes: [NameIndex]

    package init(
        name: NameIndex?, key: NameIndex, conditions: [LinkCondition], nodes: [NameIndex]
    ) {
        self.name = name
        self.key = key
        self.conditions = conditions
        self.nodes = nodes
    }

    /// What changes when the count does: what the store keeps, or the list.
    var changingKey: NameIndex { name ?? key }
}

/// How an argument names a record.
package struct Lookup: Sendable, Hashable {
    package let argument: String
    /// The types the record may have; empty for any.
    package let types: [NameIndex]
    /// Unique fields by whose value a record is also found.
    package let uniqueKeys: [UniqueKey]

    package struct UniqueKey: Sendable, Hashable {
        package let type: NameIndex
        package let key: NameIndex

        package init(type: NameIndex, key: NameIndex) {
            self.type = type
            self.key = key
        }
    }

    package init(argument: String, types: [NameIndex], uniqueKeys: [UniqueKey]) {
        self.argument = argument
        self.types = types
        self.uniqueKeys = uniqueKeys
    }
}

package enum ConnectionPart: Sendable {
    case edges
    case pageInfo
    case node
    case cursor
    case hasNextPage
    case hasPreviousPage
    case startCursor
    case endCursor
}

package enum PayloadPart: Sendable {
    /// The record that was created or changed; null once it is deleted.
    case record
    /// The new edge, in the list it was added to.
    case edge
    /// The record that holds the list, or that the input's parent argument names.
    case parent
    case deletedID
    case clientMutationID
}
