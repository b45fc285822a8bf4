package import GraphQLExecution
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
    ///   - access: what the subscriber may see; nil: everything.
    package func event(
        of mutation: ToldMutation, arguments: JSONObject, viewer: String?, access: Access?
    ) -> Result<ObjectValue, ExecutionError>? {
        guard let handler else {
            return matches(arguments, mutation, access) ? .success(.payload(mutation.payload)) : nil
        }
        let commit = CommitContext(mutation)
        let subscription = SubscriptionContext(
            arguments: VariableData(arguments), viewer: viewer, records: commit.records)
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

    /// The first argument that excludes one of the mutations; nil if none does.
    package func mismatch(
        _ arguments: JSONObject, _ mutation: ToldMutation, _ access: Access? = nil
    ) -> Mismatch? {
        for comparison in comparisons[mutation.intent.field] ?? [] {
            guard let expected = arguments[comparison.name], expected != .null else { continue }
            let given = mutation.arguments.mutationInput[comparison.name]
            if let given, given != .null,
                comparison.areEqual(expected, given, mutation, access)
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
    let name: String
    /// How the argument names a record; nil for any other value.
    let lookup: Lookup?
    /// Whether it names the record that the mutation is about, which may be deleted by now.
    let isSubject: Bool

    /// Whether two values are the same, or ids or unique values that name the same record.
    /// - Parameter access: of whom expects it: a hidden record cannot be found out by its unique value.
    fileprivate func areEqual(
        _ expected: JSONValue, _ given: JSONValue, _ mutation: ToldMutation, _ access: Access?
    ) -> Bool {
        guard let lookup else { return expected == given }
        if access == nil, expected == given { return true }
        let snapshot = mutation.snapshot
        func id(_ value: JSONValue, _ access: Access?) -> DataID? {
            guard let text = value.recordName else { return nil }
            var dependencies: Dependencies?
            let found =
                access.map { $0.find(text, lookup, for: .event, in: snapshot, &dependencies) }
                ?? snapshot.find(text, lookup)
            return DataID(found.map(snapshot.symbols.idString) ?? text)
        }
        return id(expected, access) == (isSubject ? mutation.response.result : id(given, nil))
    }
}
