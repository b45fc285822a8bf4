public import GraphQLExecution
import RelayJSON

/// Swift code that decides about a record, registered with ``Handlers/access(_:claims:_:)``.
struct AccessCheck: Sendable {
    let claims: Set<String>
    let body: @Sendable (Viewer?, SnapshotRecord) throws -> Bool
    /// Hears of an error.
    var onError: @Sendable (any Error) -> Void = { _ in }

    /// Who throws does not allow.
    @Sendable
    func decide(_ call: AccessCall) -> Bool? {
        let reader = SnapshotReader(snapshot: call.snapshot, reads: call.reads)
        guard let record = reader.existing(call.record) else { return false }
        do {
            return try body(call.viewer, record)
        } catch {
            onError(error)
            return nil
        }
    }
}

extension Handlers {
    /// Decides who may see or change a record, where the schema says `{ handler: "NAME" }` in a rule.
    ///
    ///     handlers.access("Issue.read") { viewer, issue in
    ///         issue.linked("project")?.links("members").contains { $0.id.rawValue == viewer?.id } ?? false
    ///     }
    ///
    /// It runs for each record that a client might see, on one immutable snapshot, so it must be quick. It must depend
    /// only on its parameters: what it reads is recorded, and a live query is sent again when that changes. If it
    /// throws, the answer is no, and the server's log says why.
    /// - Parameters:
    ///   - name: as in the schema; a name that no rule has counts as a mistake in the schema.
    ///   - claims: those that the body looks at. Of the viewer it sees the id and these only, because viewers that are
    ///     equal in what rules look at share results, and a token with other claims that rules look at renews no
    ///     connection.
    ///   - body: gets the viewer, nil if nobody is logged in, and the record.
    public mutating func access(
        _ name: String, claims: Set<String> = [],
        _ body: @escaping @Sendable (Viewer?, SnapshotRecord) throws -> Bool
    ) {
        accessChecks[name] = AccessCheck(claims: claims, body: body)
    }
}
