import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService

/// The subscriptions of one pass over memory or the log; equal ones are executed once per event.
struct CatchUpPass {
    private struct Member {
        var request: SubscriptionRequest
        let sequence: UInt64
    }

    /// What a request asks: equal ones are prepared once.
    private struct Asked: Hashable {
        let text: ExactText
        let operationName: ExactText?
        let variables: JSONObject
        let identity: Identity
        let sendsRecords: Bool

        init(_ request: SubscriptionRequest) {
            let asked = request.request
            text = ExactText(asked.query)
            operationName = asked.operationName.map { ExactText($0) }
            variables = asked.variables
            identity = asked.identity
            sendsRecords = request.sendsRecords
        }
    }

    private struct Group {
        /// Retained, as is the plan, so that object identities stay unique even if the cache evicts the operation.
        let operation: PreparedOperation
        let plan: Plan
        let question: EventQuestion
        /// For subscriptions that get patches.
        let normalizer: RecordNormalizer?
        var members: [Member] = []
    }

    private let service: SchemaService
    private let identity: StoreIdentity
    /// Those of the present, which also have the normalizations.
    private let present: OperationCache
    /// Under the symbols of the states that the pass looks at.
    private let operations: OperationCache
    private let held: HeldResults
    private var groups: [Group] = []
    private var places: [SubscriptionGroup.Key: Int] = [:]
    private var placesByRequest: [Asked: Int] = [:]
    /// Groups that a mutation may concern, by its field.
    private var concerned: [String: [Int]] = [:]
    /// Approximate memory of what is prepared for the groups.
    private var byteCount = 0
    /// The documents, plans and normalizations that are counted: groups may share them.
    private var counted: Set<ObjectIdentifier> = []
    private let byteLimit: Int
    /// The newest durable state.
    private let newest: () -> Snapshot

    /// - Parameters:
    ///   - present: the operations of the present.
    ///   - byteLimit: on what is prepared for the groups; the last one may exceed it.
    init(
        _ service: SchemaService, _ identity: StoreIdentity, _ present: OperationCache,
        _ limits: DocumentLimits, byteLimit: Int, held: HeldResults,
        newest: @escaping () -> Snapshot
    ) {
        self.newest = newest
        self.byteLimit = byteLimit
        self.present = present
        self.held = held
        self.service = service
        self.identity = identity
        operations = OperationCache(schema: service.executable, limits: limits)
    }

    var isEmpty: Bool { groups.allSatisfy(\.members.isEmpty) }

    /// Adds a subscription, if it is equal to another one or there is room for what it needs.
    /// - Returns: whether it was added; otherwise it has to wait for another pass.
    mutating func add(
        _ request: SubscriptionRequest, behind sequence: UInt64, _ snapshot: Snapshot
    ) throws(ExecutionErrors) -> Bool {
        let member = Member(request: request, sequence: sequence)
        let asked = Asked(request)
        if let place = placesByRequest[asked] {
            groups[place].members.append(member)
            return true
        }
        if byteCount > byteLimit { return false }
        let operation = try operations.operation(ofAccepted: request.request)
        let variables = try operation.coerce(request.request.variables)
        let key = SubscriptionGroup.Key(
            operation: ObjectIdentifier(operation), variables: variables,
            scope: service.scope(of: request.request.identity, operation),
            sendsRecords: request.sendsRecords)
        if let place = places[key] {
            placesByRequest[asked] = place
            groups[place].members.append(member)
            return true
        }
        let plan = operation.plan(for: variables)
        let question: EventQuestion?
        do throws(ExecutionError) {
            question = try EventQuestion(
                plan, variables, identity: request.request.identity, on: snapshot, service)
        } catch {
            throw ExecutionErrors(errors: [error.at(plan.root.fields.first)])
        }
        guard let question else {
            assertionFailure("a live query does not catch up")
            return true
        }
        // The names of fields and types are the same in all states.
        let normalization =
            request.sendsRecords ? try present.normalization(for: request.request) : nil
        if question.looksBefore(service) { looksBefore = true }
        count(operation.documentPart)
        count(plan.part)
        if let normalization { count(normalization.part) }
        byteCount += variables.subscriptionByteCount
        (places[key], placesByRequest[asked]) = (groups.count, groups.count)
        for mutation in question.events.mutations {
            concerned[mutation, default: []].append(groups.count)
        }
        groups.append(
            Group(
                operation: operation, plan: plan, question: question,
                normalizer: normalization?.normalizer(variables), members: [member]))
        return true
    }

    private mutating func count(_ part: (id: ObjectIdentifier, byteCount: Int)) {
        if counted.insert(part.id).inserted { byteCount += part.byteCount }
    }

    /// A result for a sink that had no room for it and left the pass.
    struct Held {
        /// Resumes after the result.
        let request: SubscriptionRequest
        let response: Response
        /// Counts the response while it waits.
        let claim: HeldResults.Claim
    }

    /// A result for a group, executed for the first subscriber that takes it.
    private struct GroupResult {
        let answer: EventQuestion.Answer
        let normalizer: RecordNormalizer?
        let notes: RelayNotes
        private var executed: ExecutedResult?
        private var whole: Response?
        private var patched: Response?
        /// Of the responses that wait for clients; each is shared, and so counted once.
        private var claims: [ObjectIdentifier: HeldResults.Claim] = [:]

        init(_ answer: EventQuestion.Answer, _ normalizer: RecordNormalizer?, _ notes: RelayNotes) {
            self.answer = answer
            self.normalizer = normalizer
            self.notes = notes
        }

        /// - Parameter isFirst: the subscriber has had no result yet, and needs a whole one.
        mutating func response(isFirst: Bool) -> Response {
            let result = executed ?? answer.result()
            executed = result
            if !isFirst, let normalizer {
                let response = patched ?? Response(event: result, normalizer, notes)
                patched = response
                return response
            }
            let response = whole ?? Response(result, notes)
            whole = response
            return response
        }

        /// A response that waits until there is room for it.
        /// - Returns: nil if too much waits already.
        mutating func held(isFirst: Bool, in results: HeldResults) -> (Response, HeldResults.Claim)?
        {
            let made = !isFirst && normalizer != nil ? patched : whole
            let known = made.flatMap { claims[ObjectIdentifier($0)] }
            guard known != nil || results.hasRoom else { return nil }
            let response = response(isFirst: isFirst)
            let claim = known ?? results.claim(response.bytes.count)
            claims[ObjectIdentifier(response)] = claim
            return (response, claim)
        }

        /// Size of the responses made so far.
        var byteCount: Int { (whole?.bytes.count ?? 0) + (patched?.bytes.count ?? 0) }
    }

    /// The effects of one mutation.
    struct Told {
        fileprivate(set) var deliveries: [Delivery] = []
        fileprivate(set) var size = DeliverySize()
        fileprivate(set) var held: [Held] = []
        /// Those without room whose results are not made, because too many results wait already. They have left the
        /// pass, and resume before the mutation.
        fileprivate(set) var unmade: [SubscriptionRequest] = []
    }

    /// Whether somebody needs the state before each mutation.
    private(set) var looksBefore = false

    /// The deliveries that a mutation causes.
    /// - Parameters:
    ///   - before: the state right before the mutation; nil unless it ``looksBefore``.
    ///   - snapshot: the state right after it.
    mutating func tell(
        _ intent: MutationIntent, _ response: MutationResponse, from before: Snapshot?,
        _ snapshot: Snapshot
    ) -> Told {
        var told = Told()
        let mutation = ToldMutation(intent, response, from: before, in: snapshot, service)
        for place in concerned[intent.field] ?? [] {
            let group = groups[place]
            guard group.members.contains(where: { $0.sequence < snapshot.sequence }),
                let answer = group.question.answer(to: mutation, present: newest(), service)
            else { continue }
            let notes = RelayNotes(cursor: identity.cursor(snapshot.sequence))
            var result = GroupResult(answer, group.normalizer, notes)
            var members: [Member] = []
            members.reserveCapacity(group.members.count)
            for var member in group.members {
                if member.sequence < snapshot.sequence {
                    let isFirst = !member.request.hasHadResult
                    let before = member.request
                    member.request = member.request.starting(.after(snapshot.sequence))
                    member.request.hasHadResult = true
                    if member.request.sink.isFull {
                        if let (response, claim) = result.held(isFirst: isFirst, in: held) {
                            told.held.append(
                                Held(request: member.request, response: response, claim: claim))
                        } else {
                            told.unmade.append(before)
                        }
                        continue
                    }
                    told.deliveries.append(
                        .missed(result.response(isFirst: isFirst), to: member.request.sink))
                }
                members.append(member)
            }
            groups[place].members = members
            told.size.byteCount += result.byteCount
        }
        told.size.count = told.deliveries.count
        return told
    }

    /// Removes members whose sinks no longer want results.
    mutating func removeUnwanted() {
        for place in groups.indices {
            groups[place].members.removeAll { !$0.request.sink.isWanted }
        }
    }

    /// - Returns: the remaining subscriptions, each with the event up to which everything has been delivered.
    mutating func removeAll(after sequence: UInt64) -> [(SubscriptionRequest, UInt64)] {
        removeUnwanted()
        defer { (groups, places, placesByRequest, concerned) = ([], [:], [:], [:]) }
        return groups.flatMap(\.members).map {
            ($0.request, max($0.sequence, sequence))
        }
    }
}
