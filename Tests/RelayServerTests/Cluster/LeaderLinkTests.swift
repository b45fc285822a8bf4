import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import StoreEngine
import Testing
import Threads
import WebSocketIO

@testable import RelayServer

/// Mutations on their way to the server that leads.
@Suite(.bounded) struct LeaderLinkTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let greeting = NodeGreeting(
        proof: ClusterKey(key).proof, claims: ["roles"], messageBytes: 1 << 20)

    private static func mutation(
        _ text: String, id: String? = nil, identity: Identity = .unrestricted
    ) -> GraphQLRequest {
        var request = GraphQLRequest(query: text, identity: identity)
        if let id { request.extensions["relay"] = ["mutationId": .string(id)] }
        return request
    }

    private static func handed(
        _ text: String, id: String? = nil, identity: Identity = .unrestricted,
        mayBeDone: Bool = false
    ) -> HandedMutation {
        HandedMutation(mutation(text, id: id, identity: identity), mayBeDone: mayBeDone)
    }

    /// Runs with a link, and stops it.
    private func with(
        _ behaviour: FakeLeader.Behaviour, messageBytes: Int = 1 << 20,
        patience: Duration = LeaderLink.patience, greeting: NodeGreeting? = greeting,
        report: @escaping @Sendable (String) -> Void = { _ in },
        _ body: (LeaderLink, FakeLeader, ServerAddress) async throws -> Void
    ) async throws {
        try await FakeLeader.run(behaviour, greeting: greeting?.payload) { leader, address in
            let link = LeaderLink(
                on: try IOLoop.start(), key: ClusterKey(Self.key), messageBytes: messageBytes,
                claims: ["roles"], patience: patience, report: report)
            do {
                try await body(link, leader, address)
            } catch {
                await link.stop()
                throw error
            }
            await link.stop()
        }
    }

    private func outcome(
        of request: GraphQLRequest, by link: LeaderLink
    ) async throws -> Outcome {
        try await answer("the outcome") { link.forward(HandedMutation(request), $0) }
    }

    @Test func itIsHandedOnWithWhoAsks() async throws {
        try await with(.execute) { link, leader, address in
            link.follow(address)
            let viewer = Viewer(id: "u1", claimValues: ["roles": ["b", "a"]], expiresAt: 9)
            let request = GraphQLRequest(
                query: "mutation M { m }", operationName: "M", variables: ["n": 3],
                extensions: ["relay": ["mutationId": "c:1"]], identity: .viewer(viewer))
            let response = try #require(try await outcome(of: request, by: link).executed)
            #expect(response.cursor?.hasSuffix("1") == true && !response.hasErrors)
            let taken = try #require(leader.taken.first)
            #expect(taken.header == "Bearer " + String(repeating: "07", count: 32))
            let read = try GraphQLRequest(forwarded: taken.payload)
            var expected = request
            expected.isForwarded = true
            #expect(read == expected && read.identity.viewer?.expiresAt == 9)
        }
    }

    @Test(arguments: [Identity.unrestricted, .nobody, .viewer(Viewer(id: "x"))])
    func everybodyStaysWhoTheyAre(_ identity: Identity) throws {
        let request = Self.mutation("mutation { m }", identity: identity)
        #expect(try GraphQLRequest(forwarded: request.forwarded).identity == identity)
    }

    @Test func nobodyBecomesSomebodyByAMistake() {
        let wrong: [JSONValue] = [
            .null, "unrestricted", [:], ["kind": "admin"], ["kind": "viewer"],
            ["kind": "viewer", "id": "", "claims": [:]], ["kind": "viewer", "id": "x"],
        ]
        for identity in wrong {
            let payload: JSONObject = ["query": "mutation { m }", "identity": identity]
            #expect(throws: ExecutionError.self) { try GraphQLRequest(forwarded: payload) }
        }
        #expect(throws: ExecutionError.self) {
            try GraphQLRequest(forwarded: ["query": "mutation { m }"])
        }
    }

    @Test func theyWaitForALeaderAndKeepTheirOrder() async throws {
        try await with(.execute) { link, leader, address in
            let answers = (0..<300).map { number in
                let answer = AnsweredOnce()
                link.forward(Self.handed("mutation { m\(number) }")) { answer.take($0) }
                return answer
            }
            link.follow(address)
            for answer in answers {
                let outcome = try await answer.value
                #expect(outcome.executed != nil)
            }
            let texts = leader.taken.map { $0.payload["query"]?.string }
            #expect(texts == (0..<300).map { "mutation { m\($0) }" })
        }
    }

    @Test func whatIsLostIsSentAgainIfItHasAnID() async throws {
        try await with(.cut) { link, leader, address in
            link.follow(address)
            let named = AnsweredOnce()
            link.forward(Self.handed("mutation { m }", id: "c:1")) { named.take($0) }
            try await eventually("it has been sent twice") { leader.taken.count > 1 ? true : nil }
            let plain = try await outcome(of: Self.mutation("mutation { n }"), by: link)
            #expect(plain.codes == [.outcomeUnknown])
            leader.behave(.execute)
            #expect(try await named.value.executed != nil)
            let plainOnes = leader.taken.filter { $0.payload["query"] == "mutation { n }" }
            // It was sent once, or had no connection to be sent on.
            #expect(plainOnes.count <= 1)
        }
    }

    /// A mutation with an id whose connection a leader has cut.
    private func lostOnce(
        by link: LeaderLink, _ leader: FakeLeader
    ) async throws -> AnsweredOnce {
        let named = AnsweredOnce()
        link.forward(Self.handed("mutation { m }", id: "c:1")) { named.take($0) }
        try await eventually("it has been sent") { leader.taken.isEmpty ? nil : true }
        return named
    }

    /// "Nothing was changed" says nothing of the first time.
    @Test(arguments: [ErrorCode.overloaded, .limitExceeded, .behind, .forbidden])
    func whatIsRefusedAfterItWasLostMayBeDone(_ code: ErrorCode) async throws {
        try await with(.cut) { link, leader, address in
            link.follow(address)
            let named = try await lostOnce(by: link, leader)
            leader.behave(.fail([ExecutionError("Nothing was changed.", code: code).json]))
            #expect(try await named.value.codes == [.outcomeUnknown])
            // What has not been lost is told as it is.
            let plain = try await outcome(of: Self.mutation("mutation { n }"), by: link)
            #expect(plain.codes == [code])
        }
    }

    @Test(arguments: [ErrorCode.alreadyApplied, .mutationIDReused, .mutationIDTooOld])
    func whatIsKnownByTheIDIsTold(_ code: ErrorCode) async throws {
        try await with(.cut) { link, leader, address in
            link.follow(address)
            let named = try await lostOnce(by: link, leader)
            leader.behave(.fail([ExecutionError("The id.", code: code).json]))
            #expect(try await named.value.codes == [code])
        }
    }

    @Test func whatMayBeDoneBeforeItCameStaysSo() async throws {
        try await with(.hang, patience: .milliseconds(1)) { link, _, _ in
            let late = AnsweredOnce()
            link.forward(Self.handed("mutation { m }", id: "c:1", mayBeDone: true)) {
                late.take($0)
            }
            let told = try await late.value
            #expect(told.codes == [.outcomeUnknown])
            link.lead()
            let next = AnsweredOnce()
            link.forward(Self.handed("mutation { m }", id: "c:1", mayBeDone: true)) {
                next.take($0)
            }
            let outcome = try await next.value
            #expect(outcome.isOvertaken(mayBeDone: true))
        }
    }

    /// It may be why the connection is lost, for everybody.
    @Test func whatIsLostAgainAndAgainIsGivenUp() async throws {
        try await with(.cut) { link, leader, address in
            link.follow(address)
            let named = AnsweredOnce()
            link.forward(Self.handed("mutation { m }", id: "c:1")) { named.take($0) }
            #expect(try await named.value.codes == [.outcomeUnknown])
            #expect(leader.taken.count == 10)
            leader.behave(.execute)
            let next = try await outcome(of: Self.mutation("mutation { n }"), by: link)
            #expect(next.executed != nil)
        }
    }

    @Test(arguments: [
        nil, NodeGreeting(proof: ClusterKey([1]).proof, claims: [], messageBytes: 1 << 20),
    ])
    func nothingIsHandedToAStranger(_ greeting: NodeGreeting?) async throws {
        let reports = Lock<[String]>([])
        try await with(
            .execute, patience: .seconds(1), greeting: greeting,
            report: { text in reports.withLock { $0.append(text) } }
        ) { link, leader, address in
            link.follow(address)
            let refused = try await outcome(of: Self.mutation("mutation { m }"), by: link)
            #expect(refused.codes == [.overloaded])
            #expect(leader.taken.isEmpty)
            let told = reports.withLock { $0 }
            #expect(told.count == 1 && told[0].contains("does not belong to the cluster"))
        }
    }

    /// Its rules would take the viewer for one who has no such claim.
    @Test func nobodyIsJudgedByClaimsThatAreNotHandedOn() async throws {
        let newer = NodeGreeting(
            proof: ClusterKey(Self.key).proof, claims: ["roles", "suspended"], messageBytes: 1 << 20
        )
        try await with(.execute, greeting: newer) { link, leader, address in
            link.follow(address)
            let viewer = Identity.viewer(Viewer(id: "u1"))
            let refused = try await outcome(
                of: Self.mutation("mutation { m }", identity: viewer), by: link)
            #expect(refused.codes == [.overloaded])
            #expect(leader.taken.isEmpty)
            let nobody = try await outcome(
                of: Self.mutation("mutation { m }", identity: .nobody), by: link)
            #expect(nobody.executed != nil)
        }
    }

    /// What clients may send and get is nested deeper in the messages between servers.
    @Test func deepValuesGoBothWays() async throws {
        var value = JSONValue.int(1)
        for _ in 0..<510 { value = .array([value]) }
        var result = value
        for _ in 0..<200 { result = ["field": result] }
        let request = GraphQLRequest(query: "mutation { m }", variables: ["x": value])
        try await with(.answer(["data": result])) { [result] link, leader, address in
            link.follow(address)
            let response = try #require(try await outcome(of: request, by: link).executed)
            let text = JSONValue.object(["data": result]).text
            #expect(String(decoding: response.bytes, as: UTF8.self) == text)
            #expect(leader.taken.first?.payload["variables"]?["x"] == value)
        }
    }

    /// Its connection ends, and all goes on the next one.
    @Test func anAnswerThatCannotBeReadEndsOneConnection() async throws {
        var deep = JSONValue.int(1)
        for _ in 0..<2_100 { deep = .array([deep]) }
        let reports = Lock<[String]>([])
        try await with(
            .answerFirst(["data": deep]), report: { text in reports.withLock { $0.append(text) } }
        ) { link, leader, address in
            let answers = (0..<100).map { number in
                let answer = AnsweredOnce()
                link.forward(Self.handed("mutation { m\(number) }", id: "c:\(number)")) {
                    answer.take($0)
                }
                return answer
            }
            link.follow(address)
            for answer in answers {
                let outcome = try await answer.value
                #expect(outcome.executed != nil)
            }
            #expect(reports.withLock { $0.count } == 1 && leader.taken.count > 100)
        }
    }

    /// Whoever leads has bounds on its results.
    @Test func aLongAnswerLeavesTheConnection() async throws {
        let text = String(repeating: "x", count: 65 << 20)
        try await with(.answer(["data": .string(text)])) { link, leader, address in
            link.follow(address)
            let response = try #require(
                try await outcome(of: Self.mutation("mutation { m }"), by: link).executed)
            #expect(response.bytes.count == text.utf8.count + 11)
        }
    }

    @Test func whoeverDoesNotLeadIsAskedAgain() async throws {
        let refusal: JSONValue = [
            "message": "No.", "extensions": ["code": "NOT_LEADING"],
        ]
        try await with(.fail([refusal])) { link, leader, address in
            link.follow(address)
            let answer = AnsweredOnce()
            link.forward(Self.handed("mutation { m }")) { answer.take($0) }
            try await eventually("it has been sent twice") { leader.taken.count > 1 ? true : nil }
            leader.behave(.execute)
            #expect(try await answer.value.executed != nil)
        }
    }

    /// One that takes long does not hold up the others after a server has said that it does not lead.
    @Test func whatTakesLongHoldsUpNothing() async throws {
        let refusal: JSONValue = ["message": "No.", "extensions": ["code": "NOT_LEADING"]]
        try await with(.hang) { link, leader, address in
            link.follow(address)
            let long = AnsweredOnce()
            link.forward(Self.handed("mutation { long }", id: "c:1")) { long.take($0) }
            try await eventually("it is there") { leader.taken.count == 1 ? true : nil }
            leader.behave(.fail([refusal]))
            let other = AnsweredOnce()
            link.forward(Self.handed("mutation { m }")) { other.take($0) }
            try await eventually("it has been asked") { leader.taken.count > 1 ? true : nil }
            leader.behave(.execute)
            #expect(try await other.value.executed != nil)
        }
    }

    /// Whoever led before answers what it has, also when another one leads.
    @Test func whoLedBeforeMayAnswer() async throws {
        let refusal: JSONValue = ["message": "No.", "extensions": ["code": "NOT_LEADING"]]
        try await with(.later([refusal])) { link, first, address in
            try await FakeLeader.run(.execute, greeting: Self.greeting.payload) { second, other in
                link.follow(address)
                let plain = AnsweredOnce()
                link.forward(Self.handed("mutation { m }")) { plain.take($0) }
                try await eventually("it is there") { first.taken.count == 1 ? true : nil }
                link.follow(other)
                first.answerLater()
                #expect(try await plain.value.executed != nil)
                #expect(second.taken.count == 1)
            }
        }
    }

    @Test func errorsComeBackAsTheyWere() async throws {
        var error = ExecutionError(
            "Wrong.", code: .badUserInput, locations: [.init(line: 3, column: 14)],
            path: [.field("m"), .index(2)])
        error.id = "17"
        error.cursor = "c"
        try await with(.fail([error.json])) { [error] link, _, address in
            link.follow(address)
            let outcome = try await outcome(of: Self.mutation("mutation { m }"), by: link)
            guard case .refused(let errors) = outcome else {
                Issue.record("It was not refused: \(outcome)")
                return
            }
            #expect(errors == [error])
        }
    }

    /// A server that hangs is left when another one leads.
    @Test func anotherLeaderGetsWhatHasAnID() async throws {
        try await with(.hang) { link, first, address in
            try await FakeLeader.run(.execute, greeting: Self.greeting.payload) { second, other in
                link.follow(address)
                let (named, plain) = (AnsweredOnce(), AnsweredOnce())
                link.forward(Self.handed("mutation { m }", id: "c:1")) { named.take($0) }
                link.forward(Self.handed("mutation { n }")) { plain.take($0) }
                try await eventually("both are there") { first.taken.count == 2 ? true : nil }
                link.follow(other)
                #expect(try await plain.value.codes == [.outcomeUnknown])
                #expect(try await named.value.executed != nil)
                #expect(second.taken.map { $0.payload["query"] } == ["mutation { m }"])
            }
        }
    }

    @Test func whoLeadsDoesItThemselves() async throws {
        try await with(.hang) { link, leader, address in
            link.follow(address)
            let (named, plain) = (AnsweredOnce(), AnsweredOnce())
            link.forward(Self.handed("mutation { m }", id: "c:1")) { named.take($0) }
            link.forward(Self.handed("mutation { n }")) { plain.take($0) }
            try await eventually("both are there") { leader.taken.count == 2 ? true : nil }
            link.lead()
            #expect(try await named.value.isOvertaken(mayBeDone: true))
            #expect(try await plain.value.codes == [.outcomeUnknown])
            let new = try await outcome(of: Self.mutation("mutation { o }"), by: link)
            #expect(new.isOvertaken(mayBeDone: false))
        }
    }

    @Test func nobodyWaitsForEver() async throws {
        try await with(.hang, patience: .milliseconds(1)) { link, _, _ in
            let outcome = try await outcome(of: Self.mutation("mutation { m }"), by: link)
            #expect(outcome.codes == [.overloaded])
        }
    }

    @Test func whatIsTooLongIsNotSent() async throws {
        try await with(.execute, messageBytes: 4_096) { link, leader, address in
            link.follow(address)
            let long = String(repeating: "x", count: 4_096)
            let refused = try await outcome(of: Self.mutation(long, id: "c:1"), by: link)
            #expect(refused.codes == [.limitExceeded])
            // At the bound it goes.
            var payload = Self.mutation("").forwarded
            payload["query"] = ""
            let room = 4_096 - 128 - JSONValue.object(payload).bytes.count
            let fitting = Self.mutation(String(repeating: "y", count: room))
            #expect(try await outcome(of: fitting, by: link).executed != nil)
            let over = Self.mutation(String(repeating: "y", count: room + 1))
            #expect(try await outcome(of: over, by: link).codes == [.limitExceeded])
            #expect(leader.taken.count == 1)
        }
    }

    /// The servers may have other limits.
    @Test func whatIsTooLongForWhoLeadsIsNotSent() async throws {
        let smaller = NodeGreeting(
            proof: ClusterKey(Self.key).proof, claims: [], messageBytes: 4_096)
        try await with(.execute, greeting: smaller) { link, leader, address in
            link.follow(address)
            let long = String(repeating: "x", count: 4_096)
            let refused = try await outcome(of: Self.mutation(long, id: "c:1"), by: link)
            #expect(refused.codes == [.limitExceeded])
            let short = try await outcome(of: Self.mutation("mutation { m }"), by: link)
            #expect(short.executed != nil && leader.taken.count == 1)
        }
    }

    /// One that says nothing is left, and that is said.
    @Test func whoDoesNotAcknowledgeIsLeft() async throws {
        let reports = Lock<[String]>([])
        try await with(
            .silent, patience: .seconds(60),
            report: { text in reports.withLock { $0.append(text) } }
        ) { link, _, address in
            let waiting = AnsweredOnce()
            link.forward(Self.handed("mutation { m }")) { waiting.take($0) }
            link.follow(address)
            try await eventually("the report") {
                reports.withLock { $0.first?.contains("cannot be reached") == true ? true : nil }
            }
        }
    }

    @Test func whatWaitsIsAnsweredAtTheEnd() async throws {
        let answers = [AnsweredOnce(), AnsweredOnce()]
        try await with(.hang) { link, leader, address in
            link.follow(address)
            link.forward(Self.handed("mutation { m }", id: "c:1")) { answers[0].take($0) }
            try await eventually("it is there") { leader.taken.count == 1 ? true : nil }
            link.follow(nil)
            link.forward(Self.handed("mutation { n }")) { answers[1].take($0) }
        }
        #expect(try await answers[0].value.codes == [.outcomeUnknown])
        guard case .stopping = try await answers[1].value else {
            Issue.record("It was never sent.")
            return
        }
    }
}

/// What became of one mutation.
private final class AnsweredOnce: Sendable {
    private let outcomes = Lock<[Outcome]>([])

    func take(_ outcome: Outcome) { outcomes.withLock { $0.append(outcome) } }

    var value: Outcome {
        get async throws {
            let told: [Outcome] = try await eventually("the outcome") {
                let told = outcomes.withLock { $0 }
                return told.isEmpty ? nil : told
            }
            #expect(told.count == 1)
            return told[0]
        }
    }
}

extension Outcome {
    fileprivate var executed: Response? {
        if case .executed(let response) = self { response } else { nil }
    }

    fileprivate var codes: [ErrorCode]? {
        if case .refused(let errors) = self { errors.compactMap(\.code) } else { nil }
    }

    fileprivate func isOvertaken(mayBeDone: Bool) -> Bool {
        if case .overtaken(mayBeDone) = self { true } else { false }
    }
}
