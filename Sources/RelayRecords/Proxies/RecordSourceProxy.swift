public import RelayArtifacts

/// All records, as an updater or a shared mutation sees and changes them.
///
/// Writes are visible at once through the same proxy, and nowhere else until the updater has
/// returned. An updater that throws leaves nothing behind.
public protocol RecordSourceProxy {
    /// A new record. If one with this id exists, it is returned unchanged.
    mutating func create(dataID: DataID, typeName: String) -> any RecordProxy
    /// A new record with an id made by the store: a server id on the server, a temporary one on a client.
    mutating func create(typeName: String) -> any RecordProxy
    /// Deletes a record. Links to it stay and read as null.
    mutating func delete(dataID: DataID)
    /// The record with this id; nil if it was deleted or is unknown.
    subscript(_ dataID: DataID) -> (any RecordProxy)? { get }
    /// The record with the fields of the query type.
    var root: any RecordProxy { get }
    /// Makes everything fetched so far stale.
    mutating func invalidateStore()
}

/// What the updater of an operation gets: adds the root fields of the operation's own result.
public protocol RecordSourceSelectorProxy: RecordSourceProxy {
    /// The record that a root field of the operation links to.
    /// - Parameter name: the field's alias, or its name.
    func getRootField(_ name: String) -> (any RecordProxy)?
    /// The records that a root field of the operation links to.
    /// - Parameter name: the field's alias, or its name.
    func getPluralRootField(_ name: String) -> [(any RecordProxy)?]?
}

/// One record, as an updater sees and changes it.
///
/// Fields are named as in the schema; a field with arguments is a different one for each combination of them.
public protocol RecordProxy: AnyObject {
    /// The record's id.
    var dataID: DataID { get }
    /// The name of the record's type; empty once the record is deleted.
    var typeName: String { get }
    /// The value of a leaf: String, Int, Double, Bool, `VariableValue.null`, or arrays and dictionaries of them; nil if
    /// it is unknown. Setting nil makes it unknown; Foundation's `NSNull()` also counts as null.
    subscript(_ name: String, args: (any VariableDataConvertible)?) -> Any? { get set }
    /// The linked record; nil if the field is unknown or null, or the record was deleted.
    func getLinkedRecord(_ name: String, args: (any VariableDataConvertible)?)
        -> (any RecordProxy)?
    /// The linked records; nil if the field is unknown or null.
    func getLinkedRecords(_ name: String, args: (any VariableDataConvertible)?)
        -> [(any RecordProxy)?]?
    /// The linked record, created if there is none.
    func getOrCreateLinkedRecord(
        _ name: String, typeName: String, args: (any VariableDataConvertible)?
    ) -> any RecordProxy
    /// Sets a link; nil is null.
    func setLinkedRecord(
        _ name: String, args: (any VariableDataConvertible)?, record: (any RecordProxy)?)
    /// Sets a list of links; nil elements are null.
    func setLinkedRecords(
        _ name: String, args: (any VariableDataConvertible)?, records: [(any RecordProxy)?])
    /// Sets every field that the other record has.
    func copyFields(from record: any RecordProxy)
    /// Makes everything that was fetched with this record in it stale.
    func invalidateRecord()
    /// A paged list of nodes: on the client the record that `@connection(key:)` keeps, on the server
    /// the list behind the connection field. nil if it was never fetched, or is null.
    func connection(_ key: String, filters: (any VariableDataConvertible)?)
        -> (any ConnectionProxy)?
}

extension RecordProxy {
    /// The value of a leaf without arguments.
    public subscript(_ name: String) -> Any? {
        get { self[name, nil] }
        set { self[name, nil] = newValue }
    }

    /// The linked record of a field without arguments.
    public func getLinkedRecord(_ name: String) -> (any RecordProxy)? {
        getLinkedRecord(name, args: nil)
    }

    /// The linked records of a field without arguments.
    public func getLinkedRecords(_ name: String) -> [(any RecordProxy)?]? {
        getLinkedRecords(name, args: nil)
    }

    /// The linked record of a field without arguments, created if there is none.
    public func getOrCreateLinkedRecord(_ name: String, typeName: String) -> any RecordProxy {
        getOrCreateLinkedRecord(name, typeName: typeName, args: nil)
    }

    /// Sets the link of a field without arguments; nil is null.
    public func setLinkedRecord(_ name: String, record: (any RecordProxy)?) {
        setLinkedRecord(name, args: nil, record: record)
    }

    /// Sets the links of a field without arguments.
    public func setLinkedRecords(_ name: String, records: [(any RecordProxy)?]) {
        setLinkedRecords(name, args: nil, records: records)
    }

    /// The connection without filters; nil if it was never fetched, or is null.
    public func connection(_ key: String) -> (any ConnectionProxy)? {
        connection(key, filters: nil)
    }
}
