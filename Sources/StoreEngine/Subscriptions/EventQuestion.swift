import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService

/// A subscription to events: the one place that decides which mutations it reports, and how. Used for new
/// commits, for missed ones, and when the log is asked to explain.
struct EventQuestion {
    private let plan: Plan
    private let variables: CoercedVariables
    private let identity: Identity
    let events: MutationEvents
    /// The coerced arguments of the subscription field.
    let arguments: JSONObject

    /// Nil if the operation is not a subscription to events.
    init?(
        _ plan: Plan, _ variables: CoercedVariables, identity: Identity,
        on snapshot: Snapshot, _ service: SchemaService
    ) throws(ExecutionError) {
        guard plan.operation == .subscription, let field = plan.root.fields.first,
            case .events(let events)? = service.subscriptions[field.name]
        else { return nil }
        var execution = Execution(
            plan, variables: variables, on: snapshot, schema: service.executable,
            identity: identity)
        self.plan = plan
        self.variables = variables
        self.identity = identity
        self.events = events
        arguments = try execution.rootArguments(0)
    }

    /// Whether the state before a mutation is needed: somebody who may not see everything is told of a deletion by it, and
    /// an argument may name a record that is gone.
    func looksBefore(_ service: SchemaService) -> Bool {
        !arguments.isEmpty || service.access.restrict(identity)
    }

    /// The event that a mutation is for the subscription, executed when somebody takes it; nil if it is none of its
    /// events. A mutation that the schema no longer has never is.
    /// - Parameter present: a subscriber that was away gets nothing that is hidden from it now.
    func answer(
        to mutation: ToldMutation, present: Snapshot, _ service: SchemaService
    ) -> Answer? {
        guard events.mutations.contains(mutation.intent.field) else { return nil }
        let present = present.sequence == mutation.snapshot.sequence ? nil : present
        let rules = service.access.restrict(identity) ? mutation.rules : service.access
        let access = Access(identity, rules, on: mutation.snapshot, present: present)
        // One about a record that is hidden is none, whatever it was asked for.
        if let access, events.isAboutRecords, !mutation.isVisible(to: access) { return nil }
        let event = events.event(
            of: mutation, arguments: arguments, identity: identity, access: access)
        return event.map {
            Answer(
                question: self, event: $0, snapshot: mutation.snapshot, present: present,
                schema: service.executable, rules: rules)
        }
    }

    /// An event of the subscription.
    struct Answer {
        fileprivate let question: EventQuestion
        fileprivate let event: Result<ObjectValue, ExecutionError>
        fileprivate let snapshot: Snapshot
        fileprivate let present: Snapshot?
        fileprivate let schema: ExecutableSchema
        fileprivate let rules: AccessRules

        func result() -> ExecutedResult {
            var execution = Execution(
                question.plan, variables: question.variables, on: snapshot,
                schema: schema, rules: rules, identity: question.identity, present: present)
            return execution.result(of: event)
        }
    }
}
