import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService

/// The subscriptions of one pass over the log; equal ones are executed once per event.
struct CatchUpPass {
    private struct Member {
        var request: SubscriptionRequest
        let sequence: UInt64
    }

    private struct Group {
        /// Retained so that the key's object identity stays unique even if the cache evicts the operation.
        let operation: PreparedOperation
        let question: EventQuestion
        /// For subscriptions that get patches.
        let normalizer: RecordNormalizer?
        var members: [Member] = []
    }

    private let service: SchemaService
    private let identity: StoreIdentity
    private let operations: OperationCache
    private let held: HeldResults
    private var groups: [Group] = []
    private var places: [SubscriptionGroup.Key: Int] = [:]
    /// Groups that a mutation may concern, by its field.
    private var concerned: [String: [Int]] = [:]

    init(
        _ service: SchemaService, _ identity: StoreIdentity, _ limits: DocumentLimits,
        held: HeldResults
    ) {
        self.held = held
        self.service = service
        self.identity = identity
        operations = OperationCache(schema: service.executable, limits: limits)
    }

    var isEmpty: Bool { groups.allSatisfy(\.members.isEmpty) }

    mutating func add(
        _ request: SubscriptionRequest, behind sequence: UInt64, _ snapshot: Snapshot
    ) throws(ExecutionErrors) {
        let operation = try operations.operation(
            for: request.request, storedRecords: snapshot.recordCount)
        let variables = try operation.coerce(request.request.variables)
        let key = SubscriptionGroup.Key(
            operation: ObjectIdentifier(operation), variables: variables,
            viewer: service.looksAtViewer ? request.request.viewer : nil,
            sendsRecords: request.sendsRecords)
        let member = Member(request: request, sequence: sequence)
        if let place = places[key] { return groups[place].members.append(member) }
        let plan = operation.plan(for: variables)
        do throws(ExecutionError) {
            let question = try EventQuestion(
                plan, variables, viewer: key.viewer, on: snapshot, service)
            guard let question else { return }
            for mutation in question.events.mutations {
                concerned[mutation, default: []].append(groups.count)
            }
            places[key] = groups.count
            groups.append(
                Group(
                    operation: operation, question: question,
                    // It was created before, for the same text.
                    normalizer: request.sendsRecords
                        ? try? RecordNormalizer(
                            operation, variables, schema: service.executable.schema) : nil,
                    members: [member]))
        } catch {
            throw ExecutionErrors(errors: [error.at(plan.root.fields.first)])
        }
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
        private var full: Response?
        private var patch: Response?

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
                let response = patch ?? Response(eventPatch: result, normalizer, notes)
                patch = response
                return response
            }
            let response = full ?? Response(result, notes)
            full = response
            return response
        }

        /// Size of the responses made so far.
        var byteCount: Int { (full?.bytes.count ?? 0) + (patch?.bytes.count ?? 0) }
    }

    /// The effects of one mutation.
    struct Told {
        fileprivate(set) var deliveries: [Delivery] = []
        fileprivate(set) var size = DeliverySize()
        fileprivate(set) var held: [Held] = []
        /// Sinks without room whose results are not made, because too many results wait already. They have left the pass.
        fileprivate(set) var ended: [any SubscriptionSink] = []
    }

    /// The deliveries that a mutation causes.
    /// - Parameter snapshot: the state right after the mutation.
    mutating func tell(
        _ intent: MutationIntent, _ response: MutationResponse, _ snapshot: Snapshot
    ) -> Told {
        var told = Told()
        let mutation = ToldMutation(intent, response, in: snapshot, service)
        for place in concerned[intent.field] ?? [] {
            let group = groups[place]
            guard group.members.contains(where: { $0.sequence < snapshot.sequence }),
                let answer = group.question.answer(to: mutation, service)
            else { continue }
            let notes = RelayNotes(cursor: identity.cursor(snapshot.sequence))
            var result = GroupResult(answer, group.normalizer, notes)
            var claims: [ObjectIdentifier: HeldResults.Claim] = [:]
            var members: [Member] = []
            members.reserveCapacity(group.members.count)
            for var member in group.members {
                if member.sequence < snapshot.sequence {
                    let isFirst = !member.request.hasHadResult
                    member.request = member.request.starting(.after(snapshot.sequence))
                    member.request.hasHadResult = true
                    if member.request.sink.isFull {
                        guard held.hasRoom else {
                            told.ended.append(member.request.sink)
                            continue
                        }
                        let response = result.response(isFirst: isFirst)
                        // Shared, and so counted once.
                        let claim =
                            claims[ObjectIdentifier(response)] ?? held.claim(response.bytes.count)
                        claims[ObjectIdentifier(response)] = claim
                        told.held.append(
                            Held(request: member.request, response: response, claim: claim))
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
        defer { (groups, places, concerned) = ([], [:], [:]) }
        return groups.flatMap(\.members).map {
            ($0.request, max($0.sequence, sequence))
        }
    }
}
