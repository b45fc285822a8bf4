import RelayArtifacts
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// What a response contains besides its data.
package struct ResponseSummary: Hashable, Sendable {
    /// Whether there was data; `"data": null` counts as none.
    package var hasData = false
    /// Whether the data is explicitly null: the operation was executed and produced nothing. Without a `data` member it
    /// was not executed (GraphQL §7.1).
    package var dataIsNull = false
    /// The response's own errors and those found in its data, each with its path if it has one.
    package var errors: [JSONValue] = []
    package var extensions: JSONValue?
    /// Whether more payloads follow: `@defer`, `@stream`.
    package var hasNext = false
    /// Whether it is not a response of its own, but part of the previous one.
    package var isPart = false
    /// Whether a mutation was refused in so many words: there are errors, and each field of its data is null.
    package var isRefusal = false

    package init(errors: [JSONValue] = []) { self.errors = errors }
}

extension Draft {
    /// Takes in a GraphQL response (`{"data": …, "errors": …}`), with or without incremental parts, and runs the
    /// handlers of its fields.
    ///
    /// - Parameter read: receives the state that the response is read from: it includes what its handlers have made,
    ///   and also the records they have deleted, because the server mentioned them.
    /// - Throws: `JSONError` if it is not JSON, `InvalidResponse` if it is not a response, or `UpdaterError` if a
    ///   handler did something forbidden; the draft is then half written and must be discarded.
    package mutating func normalize(
        _ response: UnsafeRawBufferPointer, _ plan: NormalizationPlan, root: DataID = .rootID,
        handlers: any HandlerProvider = DefaultHandlerProvider(), isOptimistic: Bool = false,
        read: (Snapshot) -> Void = { _ in }
    ) throws -> ResponseSummary {
        try normalize(
            response, plan, root: root, handlers: handlers, isOptimistic: isOptimistic,
            response: nil, places: nil, read: read
        ).summary
    }

    /// - Parameters:
    ///   - parted: the response that this is, or is part of, if it may come in parts.
    ///   - places: where the response's contents belong; nil: still to be found.
    /// - Returns: also where they belong.
    package mutating func normalize(
        _ response: UnsafeRawBufferPointer, _ plan: NormalizationPlan, root: DataID,
        handlers: any HandlerProvider, isOptimistic: Bool = false, response parted: PartedResponse?,
        places: ResponsePlaces?, read: (Snapshot) -> Void = { _ in }
    ) throws -> (summary: ResponseSummary, places: ResponsePlaces) {
        let before = snapshot
        let record = snapshot.symbols.record(root.rawValue)
        var start = Normalizer(before, reader: JSONReader(response))
        start.looked = looked
        var reader = ResponseReader(start, plan, root: record, places: places)
        do {
            try reader.read()
        } catch is ResponseReader.PathBehindData {
            reader = ResponseReader(start, plan, root: record, isPart: true, places: places)
            try reader.read()
        }
        let normalizer = reader.normalizer
        snapshot = normalizer.snapshot
        looked = normalizer.looked
        keepWrites(of: normalizer.changes, since: before)
        let isParted = reader.summary.hasNext || reader.summary.isPart
        read(
            try handle(
                normalizer.handled, of: isParted ? parted : nil, plan.context.variables, handlers,
                isOptimistic))
        return (reader.summary, reader.places)
    }

    /// - Returns: the state with the deleted records.
    /// - Throws: `UpdaterError` for what a handler did wrong.
    private mutating func handle(
        _ fields: [Normalizer.Handled], of response: PartedResponse?, _ variables: VariableData,
        _ handlers: any HandlerProvider, _ isOptimistic: Bool
    ) throws -> Snapshot {
        if fields.isEmpty { return snapshot }
        let before = snapshot
        let deletedCount = changes.deleted.count
        let symbols = snapshot.symbols
        let proxy = DraftProxy(
            give(), connections: EdgeConnections(), isOptimistic: isOptimistic)
        var source: any RecordSourceProxy = proxy
        for field in fields {
            guard let handler = handlers.handler(for: field.handle.handle) else { continue }
            var payload = HandleFieldPayload(
                dataID: DataID(symbols.idString(field.record)),
                fieldKey: field.handle.fieldKey.resolved(with: variables),
                handleKey: field.handle.handleKey.resolved(with: variables),
                handle: field.handle.handle, args: field.handle.args.values(from: variables),
                handleArgs: field.handle.handleArgs.values(from: variables))
            (payload.part, payload.response) = (field.part, response)
            handler.update(store: &source, fieldPayload: payload)
        }
        self = proxy.end()
        if let failure = proxy.failure { throw failure }
        var state = snapshot
        state.take(changes.deleted[deletedCount...], from: before)
        return state
    }
}

/// Bytes that are JSON but not a GraphQL response.
package struct InvalidResponse: Error, Hashable, CustomStringConvertible {
    package let description: String
}

extension Snapshot {
    /// Copies records from another state of the same store.
    package mutating func take(_ records: some Sequence<RecordIndex>, from other: Snapshot) {
        for record in records {
            let (old, new) = (row(record), other.row(record))
            if old !== new || new == nil { set(record, other[record]) }
            if old === new { continue }
            recordCount += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
            updateIndexes(record, old: old, new: new)
        }
        nextCreation = Swift.max(nextCreation, other.nextCreation)
    }
}
