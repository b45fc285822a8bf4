package import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
package import RelayJSON
@_spi(Rooms) import RelayRecords

/// What a root field of the subscription type sends.
package enum SubscriptionSource: Sendable {
    /// `@live`: the field's value now, and after every commit that changes it. It resolves like a field of
    /// the query type.
    case live
    /// `@on`: the payload of each of certain mutations, or an event that Swift code derives from a commit.
    /// The field's value is that payload or event, passed in as ``FieldResolver/source``.
    case events(MutationEvents)
    /// The elements of a sequence from Swift code, each passed in as ``FieldResolver/source``.
    case sequence(SubscriptionHandler)
}

/// The mutations whose events a subscription field sends.
package struct MutationEvents: Sendable {
    /// Root fields of the mutation type.
    package let mutations: [String]
    /// How the subscription's arguments are compared with the input of each mutation.
    var comparisons: [String: [ArgumentComparison]] = [:]
    /// Swift code that replaces the comparisons and returns the event.
    var handler: CommitHandler?

    /// Each is about the record of its mutation: `@on`.
    package var isAboutRecords: Bool { handler == nil }

    /// The event of a mutation for a subscription; nil if it is not one of its events.
    /// - Parameters:
    ///   - arguments: the coerced arguments of the subscription field.
    ///   - access: on the state after the mutation; nil: everything is visible.
    package func event(
        of mutation: ToldMutation, arguments: JSONObject, identity: Identity, access: Access? = nil
    ) -> Result<ObjectValue, ExecutionError>? {
        guard let handler else {
            return matches(arguments, mutation, access)
                ? .success(.payload(mutation.payload)) : nil
        }
        let commit = CommitContext(mutation)
        let subscription = SubscriptionContext(
            arguments: VariableData(arguments), identity: identity, records: commit.records)
        do {
            let event = try handler(commit, subscription)
            return event.map { .success(.value($0.variableValue.json)) }
        } catch {
            return .failure(ExecutionError(thrown: error))
        }
    }

    /// Whether a mutation matches these arguments: each that is given and not null equals the mutation's
    /// input field of the same name. Ids are equal if they name the same record.
    /// - Parameter arguments: the coerced arguments of the subscription field.
    func matches(
        _ arguments: JSONObject, _ mutation: ToldMutation, _ access: Access? = nil
    ) -> Bool {
        comparisons[mutation.intent.field] != nil && mismatch(arguments, mutation, access) == nil
    }

    /// An argument that excludes a mutation.
    package struct Mismatch {
        package let name: String
        package let expected: JSONValue
        /// Nil if the mutation's input has nothing under that name.
        package let given: JSONValue?
    }

    /// The first argument that excludes one of the mutations; nil if none does. What is hidden equals nothing.
    package func mismatch(
        _ arguments: JSONObject, _ mutation: ToldMutation, _ access: Access? = nil
    ) -> Mismatch? {
        for comparison in comparisons[mutation.intent.field] ?? [] {
            guard let expected = arguments[comparison.name], expected != .null else { continue }
            let given = mutation.arguments.mutationInput[comparison.name]
            if let given, given != .null, comparison.isReadable(in: mutation, access),
                comparison.isSame(expected, given, mutation, access)
            {
                continue
            }
            return Mismatch(name: comparison.name, expected: expected, given: given)
        }
        return nil
    }
}

/// How one argument of a subscription is compared.
struct ArgumentComparison: Sendable {
    let input: SchemaInputValue
    let records: InputRecords
    /// Whether it names the record that the mutation is about, which may be deleted by now.
    let isSubject: Bool
    /// Whether the mutation may set a field of that record from it.
    let isWritten: Bool

    var name: String { input.name }

    /// Whether two values are equal, everything in them that names a record by that record.
    fileprivate func isSame(
        _ expected: JSONValue, _ given: JSONValue, _ mutation: ToldMutation, _ access: Access?
    ) -> Bool {
        if access == nil, expected == given { return true }
        do {
            let wanted = try records.value(expected, of: input) { (text, lookup) in
                mutation.visible(text, lookup, access) ?? DataID(text)
            }
            // The subject itself is visible, or there is no event.
            if isSubject { return wanted.string == mutation.response.result?.rawValue }
            return try wanted
                == records.value(given, of: input) { (text, lookup) throws(InputRecords.Hidden) in
                    try mutation.named(by: text, lookup, access)
                }
        } catch {
            return false
        }
    }

    /// Whether the field that the input sets may be read in the record that the mutation is about.
    fileprivate func isReadable(in mutation: ToldMutation, _ access: Access?) -> Bool {
        guard isWritten, let access, let subject = mutation.response.result,
            let record = mutation.snapshot.existing(subject.rawValue)
        else { return true }
        return MutationSite.targetNames(of: name).allSatisfy { field in
            var dependencies: Dependencies?
            return mutation.snapshot.symbols.findName(field).map {
                access.mayRead($0, of: record, &dependencies)
            } ?? true
        }
    }
}

extension ToldMutation {
    /// The record that a subscriber means, which the mutation may have deleted or given another name.
    fileprivate func visible(_ text: String, _ lookup: Lookup, _ access: Access?) -> DataID? {
        if let record = find(text, lookup, in: snapshot, access) { return snapshot.dataID(record) }
        guard let before else { return nil }
        access?.move(to: before)
        defer { access?.move(to: snapshot) }
        return find(text, lookup, in: before, access).map(before.dataID)
    }

    private func find(
        _ text: String, _ lookup: Lookup, in state: Snapshot, _ access: Access?
    ) -> RecordIndex? {
        guard let access else { return state.find(text, lookup) }
        var dependencies: Dependencies?
        return access.find(text, lookup, for: .event, in: state, &dependencies)
    }

    /// The record that the sender of the mutation meant. It may have deleted it.
    fileprivate func named(
        by text: String, _ lookup: Lookup, _ access: Access?
    ) throws(InputRecords.Hidden) -> DataID {
        if let record = snapshot.find(text, lookup) {
            guard access?.isVisible(record, for: .event) ?? true else { throw .init() }
            return snapshot.dataID(record)
        }
        guard let access else { return DataID(text) }
        guard let before else { throw .init() }
        guard let record = before.find(text, lookup) else { return DataID(text) }
        guard access.isVisible(record, in: before, asBefore: snapshot) else { throw .init() }
        return before.dataID(record)
    }
}
