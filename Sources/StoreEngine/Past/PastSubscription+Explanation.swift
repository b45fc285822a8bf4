import GraphQLExecution
package import RelayJSON
@_spi(Rooms) package import RelayRecords
import SchemaService

extension PastSubscription {
    /// Why a subscriber was, or was not, notified of an event.
    package struct Explanation: Sendable {
        package let isTold: Bool
        package let reason: String
        /// The subscription argument that filtered the event out.
        package let argument: String?

        /// For the event that begins a log.
        package static let ofGenesis = Explanation(
            isTold: false, reason: EventBody.genesis(schema: "", seed: .empty).silence,
            argument: nil)

        /// The form that tools and `extensions.relay.explain` write.
        package func json(of sequence: UInt64) -> JSONObject {
            var object: JSONObject = [
                "sequence": .int(Int64(clamping: sequence)), "told": .bool(isTold),
                "reason": .string(reason),
            ]
            if let argument { object["argument"] = .string(argument) }
            return object
        }
    }

    /// Folds the next event, and explains why a subscriber was, or was not, notified of it.
    package func explain(
        _ event: Event, endingMutation intent: MutationIntent?
    ) throws -> Explanation {
        guard let subscriber else {
            return Explanation(
                isTold: false,
                reason: "the schema in force refuses the document: \(refusal ?? "")", argument: nil)
        }
        let dependencies = dependencies(of: subscriber)
        let isTold = try !follow(event, endingMutation: intent).isEmpty
        let question = try EventQuestion(
            subscriber.plan, subscriber.variables, identity: request.identity, on: snapshot,
            service)
        if let question { return explain(event, intent, question, isTold) }
        return explain(event, dependencies, isTold)
    }

    private func explain(
        _ event: Event, _ intent: MutationIntent?, _ question: EventQuestion, _ isTold: Bool
    ) -> Explanation {
        let events = question.events
        guard case .response(let response) = event.body, let intent else {
            return Explanation(isTold: isTold, reason: event.body.silence, argument: nil)
        }
        let mutations = events.mutations.joined(separator: ", ")
        guard events.mutations.contains(intent.field) else {
            return Explanation(
                isTold: isTold,
                reason: "the subscription tells of \(mutations), and this is \(intent.field)",
                argument: nil)
        }
        let mutation = ToldMutation(intent, response, from: nil, in: snapshot, service)
        // The state before is not at hand here, and an argument may name a record that is gone.
        if !isTold, let mismatch = events.mismatch(question.arguments, mutation) {
            let (wanted, given) = (mismatch.expected.text, mismatch.given?.text ?? "nothing")
            return Explanation(
                isTold: isTold,
                reason:
                    "the argument \(mismatch.name) is \(wanted), the mutation's input has \(given)",
                argument: mismatch.name)
        }
        return Explanation(
            isTold: isTold,
            reason: """
                the subscription tells of \(intent.field), and no argument keeps it away. A client that was too \
                slow was ended with SLOW_CONSUMER before, which the log does not know
                """, argument: nil)
    }

    private func explain(
        _ event: Event, _ dependencies: Dependencies, _ isTold: Bool
    ) -> Explanation {
        func explanation(_ reason: String) -> Explanation {
            Explanation(isTold: isTold, reason: reason, argument: nil)
        }
        if isTold {
            return explanation(
                """
                the result differs after it. A slow client may have been sent a later result in \
                its place (coalesced), which the log does not know
                """)
        }
        switch event.body {
        case .response, .update: break
        default: return explanation(event.body.silence)
        }
        return explanation(
            lastTouched(dependencies)
                ? "it changes something that the result is read from, but the result stays the same"
                : "it changes nothing that the result is read from")
    }

    private func lastTouched(_ dependencies: Dependencies) -> Bool {
        dependencies.isTouched(by: lastChanges, in: snapshot)
    }

    /// What the result was read from, before the event.
    private func dependencies(of subscriber: Subscriber) -> Dependencies {
        var execution = Execution(
            subscriber.plan, variables: subscriber.variables, on: snapshot,
            schema: service.executable, identity: request.identity, recordsDependencies: true)
        _ = execution.response(isOpen: true)
        return execution.dependencies ?? Dependencies()
    }
}

extension EventBody {
    /// Why an event that is not a change is not reported.
    fileprivate var silence: String {
        switch self {
        case .genesis: "it begins the log: there was no subscriber yet"
        case .schema:
            "the schema changed at a start: subscribers reconnect, and get the result of that time"
        case .mutation: "it is what was asked for; subscribers are notified of its response"
        case .revocation: "the mutation was revoked: nothing was changed"
        case .unknown: "a later version wrote it, and what it means is unknown"
        case .response, .update: "it ends no mutation that is known"
        }
    }
}
