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
    /// Nil if nothing depends on the viewer.
    private let viewer: String?
    let events: MutationEvents
    /// The coerced arguments of the subscription field.
    let arguments: JSONObject

    /// Nil if the operation is not a subscription to events.
    init?(
        _ plan: Plan, _ variables: CoercedVariables, viewer: String?, on snapshot: Snapshot,
        _ service: SchemaService
    ) throws(ExecutionError) {
        guard plan.operation == .subscription, let field = plan.root.fields.first,
            case .events(let events)? = service.subscriptions[field.name]
        else { return nil }
        var execution = Execution(
            plan, variables: variables, on: snapshot, schema: service.executable)
        self.plan = plan
        self.variables = variables
        self.viewer = viewer
        self.events = events
        arguments = try execution.rootArguments(0)
    }

    /// The result of a mutation for the subscription; nil if it is not one of its events. A mutation that the
    /// schema no longer has never is.
    func result(of mutation: ToldMutation, _ service: SchemaService) -> ExecutedResult? {
        answer(to: mutation, service)?.result()
    }

    /// Likewise, executed only when somebody takes it.
    func answer(to mutation: ToldMutation, _ service: SchemaService) -> Answer? {
        guard events.mutations.contains(mutation.intent.field),
            let event = events.event(of: mutation, arguments: arguments, viewer: viewer)
        else { return nil }
        return Answer(question: self, event: event, snapshot: mutation.snapshot, service: service)
    }

    /// An event of the subscription.
    struct Answer {
        fileprivate let question: EventQuestion
        fileprivate let event: Result<ObjectValue, ExecutionError>
        fileprivate let snapshot: Snapshot
        fileprivate let service: SchemaService

        func result() -> ExecutedResult {
            var execution = Execution(
                question.plan, variables: question.variables, on: snapshot,
                schema: service.executable, viewer: question.viewer)
            return execution.result(of: event)
        }
    }
}
