package import RelayArtifacts

/// The records of a ``Draft``, for updaters and shared mutations.
///
/// Its record proxies can be kept and read. Once the updater has returned (``end()``), their writes are
/// ignored: a store's names and shapes belong to its writer, and a kept proxy may be used on any thread.
package final class DraftProxy: RecordSourceSelectorProxy {
    /// The state with everything written so far.
    package private(set) var draft: Draft
    private var hasEnded = false
    /// The updater's first mistake that could not be thrown.
    package private(set) var failure: UpdaterError?
    let connections: any ConnectionStyle
    /// Invalidation is for confirmed state: optimistic updaters must not do it, so theirs is ignored.
    private let isOptimistic: Bool
    /// The record of the operation's own result, where ``getRootField(_:)`` looks. Every mutation and every
    /// subscription event has its own; ``root`` and ``invalidateStore()`` refer to ``DataID/rootID``.
    private let operationRoot: DataID
    /// Whether the program is writing, not a directive's handler.
    private let isUpdater: Bool
    private let rootKey: RootKey
    private let makeID: (_ typeName: String) -> DataID

    /// Returns the storage key of one of the operation's root fields by its name in the response; nil for a field
    /// that the operation does not have.
    package typealias RootKey = (_ name: String, _ symbols: Symbols) -> String?

    /// - Parameter makeID: makes the ids of new records that the updater does not name.
    package init(
        _ draft: Draft, connections: any ConnectionStyle, isOptimistic: Bool = false,
        operationRoot: DataID = .rootID, isUpdater: Bool = false,
        makeID: @escaping (_ typeName: String) -> DataID = { _ in .makeLocalID() },
        rootKey: @escaping RootKey = { _, _ in nil }
    ) {
        self.draft = draft
        self.connections = connections
        self.isOptimistic = isOptimistic
        self.operationRoot = operationRoot
        self.isUpdater = isUpdater
        self.makeID = makeID
        self.rootKey = rootKey
    }

    package func create(dataID: DataID, typeName: String) -> any RecordProxy {
        if row(dataID) == nil {
            change { $0.write(dataID, type: typeName, fields: []) }
        }
        return proxy(dataID)
    }

    package func create(typeName: String) -> any RecordProxy {
        create(dataID: makeID(typeName), typeName: typeName)
    }

    package func delete(dataID: DataID) {
        if dataID == .rootID || dataID == operationRoot {
            fail("The root record cannot be deleted.")
        } else {
            change { $0.delete(dataID) }
        }
    }

    package subscript(_ dataID: DataID) -> (any RecordProxy)? {
        exists(dataID) ? proxy(dataID) : nil
    }

    package var root: any RecordProxy { create(dataID: .rootID, typeName: Snapshot.rootTypeName) }

    package func invalidateStore() { invalidate(.rootID) }

    package func getRootField(_ name: String) -> (any RecordProxy)? {
        guard let key = rootKey(name, draft.snapshot.symbols),
            case .link(let id) = proxy(operationRoot).value(key)
        else {
            return nil
        }
        return self[id]
    }

    package func getPluralRootField(_ name: String) -> [(any RecordProxy)?]? {
        guard let key = rootKey(name, draft.snapshot.symbols),
            case .links(let ids) = proxy(operationRoot).value(key)
        else {
            return nil
        }
        return ids.map { id in id.flatMap { self[$0] } }
    }

    // MARK: For the proxies of its records

    package func proxy(_ dataID: DataID) -> DraftRecordProxy {
        DraftRecordProxy(source: self, dataID: dataID)
    }

    func invalidate(_ dataID: DataID) {
        guard !isOptimistic else { return }
        if dataID == .rootID { _ = root }
        change { $0.invalidate(dataID) }
    }

    package func row(_ dataID: DataID) -> Row? { find(dataID).flatMap { draft.snapshot.row($0) } }

    private func exists(_ dataID: DataID) -> Bool {
        // For a record that does not exist, anything written is new.
        notice(dataID) != nil || row(dataID) != nil
    }

    /// A record that exists; the caller reads nothing else of it.
    package func notice(_ dataID: DataID) -> (record: RecordIndex, row: Row)? {
        guard let record = draft.snapshot.symbols.findRecord(dataID.rawValue),
            let row = draft.snapshot.row(record)
        else { return nil }
        if !hasEnded { draft.notice(record) }
        return (record, row)
    }

    /// A node was not found in a connection.
    package func notice(_ absent: AbsentNode) {
        if !hasEnded { draft.notice(absent) }
    }

    /// The record with an id, which the caller goes on to read.
    package func find(_ dataID: DataID) -> RecordIndex? {
        let symbols = draft.snapshot.symbols
        if let record = symbols.findRecord(dataID.rawValue) {
            look(at: record)
            return record
        }
        // What is searched for needs a number, or its creation would go unnoticed.
        if draft.looked != nil, !hasEnded { look(at: symbols.record(dataID.rawValue)) }
        return nil
    }

    package func look(at record: RecordIndex) {
        if !hasEnded { draft.look(at: record) }
    }

    /// - Parameter type: the record's type from now on; nil: the same as before.
    package func write(
        _ dataID: DataID, type: String? = nil, _ fields: [(key: String, value: FieldValue)]
    ) {
        guard let row = row(dataID) else {
            fail("Record \"\(dataID)\" no longer exists; it cannot be written.")
            return
        }
        let type = type ?? draft.snapshot.symbols.nameString(row.type)
        change { draft in
            draft.write(dataID, type: type, fields: fields)
            if isUpdater { draft.noteOwn(fields, of: dataID, before: row) }
        }
    }

    /// Writes a field without depending on its previous value.
    package func extend(_ dataID: DataID, _ field: (key: String, value: FieldValue)) {
        guard let (record, row) = notice(dataID) else {
            write(dataID, [field])
            return
        }
        let type = draft.snapshot.symbols.nameString(row.type)
        change { $0.extend(record, dataID, type: type, field) }
    }

    /// The updater has returned, or thrown.
    /// - Returns: the draft with what it wrote, not shared with anything. The proxy's records can still be read.
    @discardableResult
    package func end() -> Draft {
        hasEnded = true
        var ended = Draft(on: draft.snapshot)
        swap(&ended, &draft)
        return ended
    }

    private func change(_ body: (inout Draft) -> Void) {
        if !hasEnded { body(&draft) }
    }

    func fail(_ message: String) { failure = failure ?? UpdaterError(message: message) }
}

/// An updater's mistake. Nothing of what it wrote remains.
public struct UpdaterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people: what was attempted on which record.
    public let message: String

    package init(message: String) { self.message = message }

    public var description: String { message }
}

/// Names a field by its arguments, the same for everyone who reads or writes it.
package func storageKey(
    _ name: String, _ args: (any VariableDataConvertible)?,
    distinguishesNull: (_ argument: String) -> Bool
) -> String {
    guard let args else { return name }
    return StorageKey(name: name, values: args.variableData, distinguishesNull: distinguishesNull)
        .resolved(with: VariableData())
}
