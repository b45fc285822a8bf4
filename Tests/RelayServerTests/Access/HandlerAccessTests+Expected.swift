import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import StoreEngine

/// What a client expects of a mutation that waits, which others are shown.
extension HandlerAccessTests {
    /// The ids of the records of which something is expected; nil if nothing is.
    private func expected(
        _ expected: JSONValue, as identity: Identity, of mutation: String = "charge"
    ) async throws -> [String]? {
        async let answer = engine.run(
            """
            mutation { \(mutation)(input: { projectId: "open", text: "x" }) {
              task { id text owner { id } project { id } }
              taskEdge { node { id } }
              project { id name }
            } }
            """, as: identity, optimisticResponse: [mutation: expected])
        try await upstream.isAsked()
        let pending = try #require(engine.service.snapshot.pending.first)
        upstream.fail(HandlerError("not now"))
        _ = try await answer
        return pending.intent.optimistic?.recordIDs
    }

    private func task(
        _ id: String, project: String, owner: String? = nil, edge: Bool = false
    ) -> JSONValue {
        var task: JSONObject = ["id": .string(id), "text": "made up"]
        task["project"] = ["id": .string(project)]
        if let owner { task["owner"] = ["id": .string(owner)] }
        var payload: JSONObject = ["task": .object(task)]
        if edge { payload["taskEdge"] = ["node": ["id": .string(id)]] }
        return .object(payload)
    }

    /// What is expected is shown to others, so it is only what might be done.
    @Test func nothingIsExpectedThatWouldNotBeAllowed() async throws {
        let bob = Self.bob
        #expect(
            try await expected(task("c:1", project: "open", edge: true), as: bob) == [
                "c:1", "open",
            ])
        // A record that may not be created: nor is it in a list.
        #expect(try await expected(task("c:2", project: "shut", edge: true), as: bob) == nil)
        // His own, which he may change, but not into this.
        #expect(try await expected(task("t1", project: "open", owner: "bob"), as: bob) == ["t1"])
        #expect(try await expected(task("t1", project: "open", owner: "ann"), as: bob) == nil)
        // Nor does it show anything of what is hidden from him.
        #expect(try await expected(task("t1", project: "shut"), as: bob) == nil)
        // What the answer shows of others' records is not expected, and does no harm.
        #expect(
            try await expected(["task": ["id": "t2", "text": "hers"]], as: bob) == nil)
        var shown = task("c:3", project: "open").object ?? [:]
        shown["project"] = ["id": "open", "name": "Opened"]
        #expect(try await expected(.object(shown), as: bob) == ["c:3"])
        // Hers.
        let hers = try await expected(.object(shown), as: Self.ann) ?? []
        #expect(Set(hers) == ["c:3", "open"])
    }

    /// The store never forgets an id.
    @Test func whatIsNotExpectedLeavesNoNames() async throws {
        #expect(try await expected(task("c:a", project: "shut"), as: Self.bob) == nil)
        let before = engine.service.snapshot.symbols.liveCount
        for number in 0..<5 {
            #expect(try await expected(task("c:b\(number)", project: "shut"), as: Self.bob) == nil)
        }
        #expect(engine.service.snapshot.symbols.liveCount == before)
    }

    /// Nobody sees something in a list that the mutation could not put there.
    @Test func onlyWhatIsExpectedIsExpectedInAList() async throws {
        func inList(_ id: String) -> JSONValue {
            ["task": ["id": .string(id)], "taskEdge": ["node": ["id": .string(id)]]]
        }
        // Hers, and his own, which he could put into this list if it were his to change.
        #expect(try await expected(inList("t2"), as: Self.bob) == nil)
        #expect(try await expected(inList("t1"), as: Self.bob) == ["t1"])
        #expect(try await expected(inList("t1"), as: Self.ann) == nil)
        #expect(try await expected(inList("t2"), as: Self.ann) == ["t2", "open"])
        #expect(try await expected(inList("t3"), as: .unrestricted) == ["t3", "open"])
    }

    /// The mutation's own rule decides about what is new; what there is may be others'.
    @Test func aMutationWithARuleOfItsOwnExpectsNewRecords() async throws {
        let new: JSONValue = [
            "task": ["id": "c:5", "text": "made up"], "taskEdge": ["node": ["id": "c:5"]],
        ]
        #expect(try await expected(new, as: Self.bob) == nil)
        #expect(try await expected(new, as: Self.bob, of: "ship") == ["c:5", "open"])
        // What is hidden from him has nothing of his.
        let hidden = task("c:6", project: "shut", edge: true)
        #expect(try await expected(hidden, as: Self.bob, of: "ship") == nil)
        #expect(
            try await expected(
                ["task": ["id": "t2", "text": "hers"]], as: Self.bob, of: "ship") == nil)
    }

    /// Not even if everything is allowed: a record is found by its unique value.
    @Test func noValueIsExpectedThatAnotherRecordHas() async throws {
        for identity in [Self.ann, .unrestricted] {
            #expect(
                try await expected(["project": ["id": "open", "name": "Free"]], as: identity)
                    == ["open"])
            #expect(
                try await expected(["project": ["id": "open", "name": "Open"]], as: identity)
                    == ["open"])
            #expect(
                try await expected(["project": ["id": "open", "name": "Shut"]], as: identity) == nil
            )
            #expect(
                try await expected(["project": ["id": "c:4", "name": "Shut"]], as: identity) == nil)
        }
    }
}
