import GraphQLExecution
import RelayJSON
import Testing

@testable import StoreEngine

/// Every way by which something of a record may come to a viewer, for a record that is visible, is not, becomes it, and
/// ceases to be it.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct AccessMatrixTests {
    typealias World = AccessMatrixWorld
    typealias Way = AccessMatrixWay

    @Test(arguments: Way.allCases)
    func whatIsVisibleIsTold(_ way: Way) async throws {
        let told = try await look(way, .visible)
        let hidden = try await look(way, .hidden)
        #expect(told != hidden)
        if let tells = way.tells { #expect(told.contains(tells), "\(told)") }
    }

    /// As if it had never been there.
    @Test(arguments: Way.allCases)
    func whatIsHiddenIsNotThere(_ way: Way) async throws {
        let hidden = try await look(way, .hidden)
        expectNothing(of: hidden, way)
        #expect(hidden == (try await look(way, .absent)))
    }

    @Test(arguments: Way.allCases)
    func whatBecomesVisibleIsTold(_ way: Way) async throws {
        let (before, after) = try await World.with(way, .hidden) { world in
            try await change(way, world) { try await world.show() }
        }
        expectNothing(of: before, way)
        if way.isOfThePast {
            // It was hidden then.
            expectNothing(of: after, way)
        } else {
            #expect(after != before)
            if let tells = way.tells { #expect(after.contains(tells), "\(after)") }
        }
    }

    /// As if it had been deleted.
    @Test(arguments: Way.allCases)
    func whatBecomesHiddenIsGone(_ way: Way) async throws {
        func texts(_ action: @escaping (World) async throws -> Void) async throws -> String {
            try await World.with(way, .visible) { world in
                try await change(way, world) { try await action(world) }.after
            }
        }
        let hidden = try await texts { try await $0.hide() }
        let deleted = try await texts { try await $0.delete() }
        if way == .repeatedAnswer {
            // Zoe had this answer. It is the same whatever happens.
            #expect(hidden.contains("canary"))
        } else if way == .patches || way == .patchesOfLink || way == .expectedPatches {
            // She is told that what she had is gone.
            #expect(hidden.contains(#""doc-7":null"#), "\(hidden)")
            #expect(!hidden.contains("canary"), "\(hidden)")
        } else {
            expectNothing(of: hidden, way)
        }
        // That it was deleted is an event; and what was visible before is, when it no longer exists.
        if way == .deletion || way.isOfThePast { return }
        #expect(hidden == deleted)
    }

    /// Each exit hides something in the ways that are said to ask through it.
    @Test(arguments: AccessExit.allCases)
    func everyExitIsAsked(_ exit: AccessExit) async throws {
        let ways = Way.ways(of: exit)
        #expect(!ways.isEmpty)
        for way in ways {
            // What leaves a result is told by patches.
            let start = exit == .patch ? World.Start.visible : .hidden
            let count = try await World.with(way, start) { world in
                _ = try await change(way, world) { if exit == .patch { try await world.hide() } }
                return world.rules?.countsNow.hidden[exit] ?? 0
            }
            #expect(count > 0, "\(way)")
        }
    }

    /// Somebody expects the document to be moved to a folder that zoe sees into, and to have another title. She is told
    /// when it happens.
    @Test func whatIsExpectedOpensNothing() async throws {
        try await World.with(.expected, .hidden) { world in
            let engine = try world.engine
            let query =
                "query @live { everyDoc { id title folder { id } } docs(last: 9) { edges { node { id } } } }"
            let sinks = try [.unrestricted, World.zoe].map {
                try engine.subscribe(query, as: $0, relay: ["optimistic": true])
            }
            for sink in sinks { _ = try await engine.results(of: sink, count: 1) }
            let answer = try engine.post(
                #"mutation { slowDoc(input: { key: "doc-7" }) { doc { id title folder { id } } } }"#,
                relay: [
                    "optimisticResponse": [
                        "slowDoc": [
                            "doc": [
                                "id": "doc-7", "title": "canary-expected", "folder": ["id": "g"],
                            ]
                        ]
                    ]
                ])
            try await world.upstream.isAsked()
            try await engine.everyPublication()
            #expect(
                engine.resultsSoFar(of: sinks[0]).last?.text.contains("canary-expected") == true)
            #expect(engine.resultsSoFar(of: sinks[1]).count == 1)
            try world.upstream.fail(TestFailure("in vain"))
            _ = try await answer.get()
            try await world.change(
                #"updateDoc(input: { id: "doc-7", folderId: "g" }) { doc { id } }"#)
            try await engine.everyPublication()
            #expect(engine.resultsSoFar(of: sinks[1]).last?.text.contains("canary-title") == true)
        }
    }

    // MARK: Looking

    private func look(_ way: Way, _ start: World.Start) async throws -> String {
        try await World.with(way, start) { world in
            let look = try await way.open(world)
            return Self.masked(try await look())
        }
    }

    private func change(
        _ way: Way, _ world: World, _ action: () async throws -> Void
    ) async throws -> (before: String, after: String) {
        let look = try await way.open(world)
        let before = way.isOnce ? "" : try await look()
        try await action()
        return (Self.masked(before), Self.masked(try await look()))
    }

    private func expectNothing(of text: String, _ way: Way) {
        for secret in World.secrets where !way.named.contains(secret) {
            #expect(!text.contains(secret), "\(secret) in: \(text)")
        }
    }

    /// Where in the log something is, or in a list, is compared elsewhere.
    private static func masked(_ text: String) -> String {
        text.replacing(/"(cursor|startCursor|endCursor)":"[^"]*"/) { "\"\($0.1)\":\"…\"" }
            .replacing(/id: memory-[^\r\n]*/, with: "")
    }
}
