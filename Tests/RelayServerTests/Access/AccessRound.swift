import BoundedTesting
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService
import Testing

@testable import StoreEngine

/// One schema, one store, and what happens to it.
struct AccessRound {
    struct Difference: Error { let text: String }

    struct Figures: CustomStringConvertible {
        var counts: [String: Int] = [
            "done": 0, "refused": 0, "events": 0, "hidden records": 0, "hidden fields": 0,
            "changed live results": 0, "patches": 0, "past": 0, "pages": 0,
        ]

        static func += (figures: inout Figures, other: Figures) {
            figures.counts.merge(other.counts, uniquingKeysWith: +)
        }

        mutating func count(_ name: String, _ number: Int = 1) {
            counts[name, default: 0] += number
        }

        var description: String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
        }
    }

    struct Live {
        let person: AccessModel.Person
        let query: [AccessSelection]
        let sink: TestSink
        /// The client of one that gets patches.
        var patched: PatchedResults?
        var seen = 0
        var last: JSONValue = .null
    }

    struct Events {
        let person: AccessModel.Person
        let type: String
        let isDeletion: Bool
        let fields: [AccessSelection]
        let sink: TestSink
        var seen = 0
    }

    var figures = Figures()
    var generator: AccessGenerator
    var model: AccessModel
    let engine: EngineUnderTest
    let open: ServiceSchema
    var people: [AccessModel.Person] = []
    var live: [Live] = []
    var events: [Events] = []
    var history: [(sequence: UInt64, model: AccessModel)] = []

    init(seed: UInt64) async throws {
        generator = AccessGenerator(seed: seed)
        model = generator.store()
        engine = try await EngineUnderTest(
            sdl: generator.sdl(isOpen: false), handlers: Handlers(), seed: model.seed,
            recentCommits: generator.chance(2) ? 1 : 4_096,
            limits: { $0.document.complexity = .max })
        open = try ServiceSchema(generator.sdl(isOpen: true))
    }

    mutating func run() async throws {
        people = (0..<3).map { _ in generator.person(model) }
        history = [(engine.service.snapshot.sequence, model)]
        try await subscribe()
        for _ in 0..<6 {
            try await mutate()
            try await engine.everyPublication()
            history.append((engine.service.snapshot.sequence, model))
            for person in people.prefix(2) {
                try await compare(generator.query(model), person, now: nil, model)
            }
            try await compareLive()
        }
        for person in people {
            let (sequence, then) = generator.pick(history)
            try await compare(generator.query(then), person, now: model, then, at: sequence)
            try await comparePages(person)
        }
    }

    // MARK: Queries

    func identity(_ person: AccessModel.Person) -> Identity {
        guard let id = person.id else { return .nobody }
        let claims = person.claims.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return .viewer(Viewer(id: id, claimValues: JSONObject(claims)))
    }

    static func text(_ query: [AccessSelection]) -> String {
        query.map(\.text).joined(separator: " ")
    }

    /// What is answered to a person, beside what an open server says of what is left.
    mutating func compare(
        _ query: [AccessSelection], _ person: AccessModel.Person, now: AccessModel?,
        _ then: AccessModel, at sequence: UInt64? = nil
    ) async throws {
        let left = then.left(for: person, generator.rules, now: now)
        figures.count("hidden records", then.records.count - left.records.count)
        if sequence != nil { figures.count("past") }
        let text = "{ \(Self.text(query)) }"
        let answer = try await engine.run(
            text, as: identity(person),
            relay: sequence.map { ["at": .int(Int64($0))] } ?? [:])
        var expectation = expectation(person, then, now: now)
        let openAnswer = try UnruledStore(open, left).answer(text)
        let expected = expectation.fields(openAnswer["data"]?.object ?? [:], query, [], of: nil)
        figures.count("hidden fields", expectation.errors.count)
        try same(
            answer, expected, expectation.errors + Self.errors(openAnswer), query,
            "\(text)\nto \(person)\(sequence.map { " at \($0)" } ?? "")", then)
    }

    func expectation(
        _ person: AccessModel.Person, _ then: AccessModel, now: AccessModel? = nil
    ) -> AccessSelection.Expectation {
        let rules = generator.rules
        return AccessSelection.Expectation(
            isHidden: { id, field in
                then.record(id).map {
                    !then.isRead(person, field, of: $0, rules, now: now)
                } ?? false
            }, isViewer: person.id != nil)
    }

    func same(
        _ answer: JSONValue, _ expected: JSONValue, _ errors: [JSONValue],
        _ query: [AccessSelection], _ what: String, _ model: AccessModel
    ) throws {
        // Without what is compared elsewhere.
        var plain = AccessSelection.Expectation(isHidden: { _, _ in false }, isViewer: true)
        let told = plain.fields(answer["data"]?.object ?? [:], query, [], of: nil)
        let (left, right) = (
            Self.errors(answer).map(\.text).sorted(), errors.map(\.text).sorted()
        )
        if told == expected, left == right { return }
        throw Difference(
            text: """
                \(what)
                told:     \(told.text)
                expected: \(expected.text)
                errors:   \(left)
                expected: \(right)
                \(generator.sdl(isOpen: false))
                \(model.seed)
                """)
    }

    static func errors(_ answer: JSONValue) -> [JSONValue] {
        (answer["errors"]?.array ?? []).map { error in
            [
                "message": error["message"] ?? .null, "path": error["path"] ?? .null,
                "code": error["extensions"]?["code"] ?? .null,
            ]
        }
    }

    /// Cursors are compared by what they select.
    mutating func comparePages(_ person: AccessModel.Person) async throws {
        let type = generator.pick(AccessGenerator.types)
        let store = try UnruledStore(open, model.left(for: person, generator.rules))
        let all = "{ list\(type) { edges { cursor node { id } } } }"
        let edges = [
            try await engine.run(all, as: identity(person)), try store.answer(all),
        ].map { $0["data"]?["list\(type)"]?["edges"]?.array ?? [] }
        guard edges[0].count == edges[1].count, !edges[0].isEmpty else { return }
        let place = Int.random(in: edges[0].indices, using: &generator.random)
        let way = generator.pick(["first: 2, after:", "last: 2, before:", "last: 1, after:"])
        let pages = edges.map { edges in
            """
            { list\(type)(\(way) \((edges[place]["cursor"] ?? .null).text)) { edges { node { id } } \
            pageInfo { hasNextPage hasPreviousPage } } }
            """
        }
        let told = try await engine.run(pages[0], as: identity(person))["data"]
        let expected = try store.answer(pages[1])["data"]
        figures.count("pages")
        if told != expected {
            throw Difference(
                text: """
                    \(pages[0]) to \(person)
                    told: \(told?.text ?? "")
                    expected: \(expected?.text ?? "")
                    """)
        }
    }

    // MARK: Streams

    mutating func subscribe() async throws {
        for _ in 0..<3 {
            let query = generator.query(model)
            let text = "query @live { \(Self.text(query)) }"
            // Others ask the same: what is shared must not differ.
            for identity in [.unrestricted, .nobody] as [Identity] {
                try engine.subscribe(text, as: identity)
            }
            for person in people {
                try await follow(query, text, person)
            }
        }
        for person in people {
            let type = generator.pick(AccessGenerator.types)
            let fields = generator.selection(of: type, 1, model)
            for isDeletion in [true, false] {
                let text =
                    isDeletion
                    ? "subscription { deleted\(type) { deletedId } }"
                    : "subscription { changed\(type) { record { \(Self.text(fields)) } } }"
                try engine.subscribe(text)
                let sink = try engine.subscribe(text, as: identity(person))
                events.append(
                    Events(
                        person: person, type: type, isDeletion: isDeletion, fields: fields,
                        sink: sink))
            }
        }
    }

    mutating func follow(
        _ query: [AccessSelection], _ text: String, _ person: AccessModel.Person
    ) async throws {
        let sendsRecords = generator.chance(2)
        let sink = try engine.subscribe(
            text, as: identity(person), relay: sendsRecords ? ["records": true] : [:])
        var patched: PatchedResults?
        if sendsRecords {
            let operation = try engine.service.prepare(GraphQLRequest(query: text))
            let normalizer = try #require(try Normalization(of: operation, schema: engine.schema))
                .normalizer(try operation.coerce([:]))
            patched = PatchedResults(normalizer.operation, variables: normalizer.variables)
        }
        live.append(Live(person: person, query: query, sink: sink, patched: patched))
        _ = try await engine.results(of: sink, count: 1)
    }

    /// What each live query was told is what a new one is answered, which is compared with an open server's.
    mutating func compareLive() async throws {
        for index in live.indices {
            let told = engine.resultsSoFar(of: live[index].sink)
            for result in told[live[index].seen...] {
                if live[index].seen > 0 { figures.count("changed live results") }
                if result["extensions"]?["relay"]?["records"] != nil { figures.count("patches") }
                if case .response(let bytes, _)? = live[index].patched?.receive(result.bytes) {
                    live[index].last = try JSONValue(parsing: bytes)
                } else if live[index].patched == nil {
                    live[index].last = result
                } else {
                    throw Difference(text: "a patch that does not fit: \(result.text)")
                }
            }
            live[index].seen = told.count
            let (query, person) = (live[index].query, live[index].person)
            let left = model.left(for: person, generator.rules)
            var expectation = expectation(person, model)
            let answer = try UnruledStore(open, left).answer("{ \(Self.text(query)) }")
            let expected = expectation.fields(answer["data"]?.object ?? [:], query, [], of: nil)
            try same(
                live[index].last, expected, expectation.errors + Self.errors(answer), query,
                "live: \(Self.text(query))\nto \(person)", model)
        }
    }
}
