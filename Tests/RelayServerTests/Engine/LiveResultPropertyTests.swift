import BoundedTesting
import GraphQLExecution
import RelayJSON
import SchemaService
import Testing

@testable import StoreEngine

/// After every commit each live query has been told what a new query would be answered, whatever it found, did not find,
/// counted or left out.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct LiveResultPropertyTests {
    private static let sdl = """
        interface Node { id: ID! }
        type Query {
          node(id: ID!): Node
          nodes(ids: [ID!]!): [Node]!
          person(login: ID!): Person @lookup
          people(team: ID, name: String, first: Int, after: String, last: Int, before: String): PersonConnection! @list(type: "Person")
        }
        type Person implements Node { id: ID! login: String! @unique name: String team: Team }
        type Team implements Node { id: ID! key: String! @unique title: String lead: Person }
        type PersonConnection { edges: [PersonEdge] pageInfo: PageInfo! }
        type PersonEdge { node: Person cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Mutation {
          addPerson(input: AddPersonInput!): PersonPayload @create(type: "Person")
          updatePerson(input: UpdatePersonInput!): PersonPayload @update(type: "Person")
          deletePerson(input: DeleteInput!): DeletedPerson @delete(type: "Person")
          addTeam(input: AddTeamInput!): TeamPayload @create(type: "Team")
          updateTeam(input: UpdateTeamInput!): TeamPayload @update(type: "Team")
          deleteTeam(input: DeleteInput!): DeletedPerson @delete(type: "Team")
        }
        input AddPersonInput { login: String! name: String teamId: ID }
        input UpdatePersonInput { id: ID! login: String name: String teamId: ID }
        input AddTeamInput { key: String! title: String leadId: ID }
        input UpdateTeamInput { id: ID! key: String title: String leadId: ID }
        input DeleteInput { id: ID! }
        type PersonPayload { person: Person }
        type TeamPayload { team: Team }
        type DeletedPerson { deletedId: ID }
        """

    private static let names = (0..<4).map { "n\($0)" } + ["Person-2", "Team-3"]
    private static let ids = (1..<8).flatMap { ["Person-\($0)", "Team-\($0)"] }

    private static func question(_ random: inout SeededGenerator) -> String {
        let name = names.randomElement(using: &random) ?? ""
        let id = ids.randomElement(using: &random) ?? ""
        let page =
            ["first: 2", "last: 2", "first: 1, last: 1", "first: 10"]
            .randomElement(using: &random) ?? ""
        let people =
            "{ edges { cursor node { login team { key } } } pageInfo { hasNextPage hasPreviousPage } }"
        return switch Int.random(in: 0..<7, using: &random) {
        case 0: "person(login: \"\(name)\") { id login name }"
        case 1: "person(login: \"\(name)\") { team { title lead { login } } }"
        case 2:
            "nodes(ids: [\"\(id)\", \"\(name)\"]) { id ... on Person { name } ... on Team { title } }"
        case 3: "people(team: \"\(name)\", \(page)) \(people)"
        case 4: "people(name: \"\(name)\", \(page)) \(people)"
        case 5: "people(\(page)) \(people)"
        default: "node(id: \"\(id)\") { id ... on Team { lead { name team { key } } } }"
        }
    }

    private static func mutation(_ random: inout SeededGenerator) -> String {
        func name() -> String { names.randomElement(using: &random) ?? "" }
        func id() -> String { ids.randomElement(using: &random) ?? "" }
        return switch Int.random(in: 0..<9, using: &random) {
        case 0:
            "addPerson(input: {login: \"\(name())\", name: \"\(name())\"}) { person { id } }"
        case 1:
            "addPerson(input: {login: \"\(name())\", teamId: \"\(name())\"}) { person { id } }"
        case 2:
            "updatePerson(input: {id: \"\(id())\", login: \"\(name())\"}) { person { id } }"
        case 3:
            "updatePerson(input: {id: \"\(id())\", name: \"\(name())\", teamId: \"\(id())\"}) { person { id } }"
        case 4: "addTeam(input: {key: \"\(name())\"}) { team { id } }"
        case 5: "updateTeam(input: {id: \"\(id())\", key: \"\(name())\"}) { team { id } }"
        case 6:
            "updateTeam(input: {id: \"\(id())\", leadId: \"\(id())\"}) { team { id } }"
        case 7: "deletePerson(input: {id: \"\(id())\"}) { deletedId }"
        default: "deleteTeam(input: {id: \"\(id())\"}) { deletedId }"
        }
    }

    @Test(arguments: 0..<12) func aLiveResultIsWhatAQueryIsAnswered(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let engine = try await EngineUnderTest(sdl: Self.sdl, handlers: Handlers(), seed: "")
        var questions: [String] = []
        for _ in 0..<12 {
            questions.append("a: \(Self.question(&random)) b: \(Self.question(&random))")
        }
        let sinks = try questions.map { try engine.subscribe("query @live { \($0) }") }
        var applied = 0
        for step in 0..<60 {
            let mutation = Self.mutation(&random)
            let answer = try await engine.run("mutation { \(mutation) }")
            if answer["errors"] == nil { applied += 1 }
            try await engine.everyPublication()
            for (question, sink) in zip(questions, sinks) {
                let fresh = try await engine.run("{ \(question) }")
                let told = try await engine.results(of: sink, count: 1)
                let isSame = told.last?["data"] == fresh["data"]
                #expect(isSame, "seed \(seed), step \(step), \(mutation): { \(question) }")
                if !isSame { return }
            }
        }
        #expect(applied > 5, "seed \(seed)")
    }

    /// What changes elsewhere executes nothing.
    @Test func aLookUpThatFindsNothingIsExecutedWhenItMayFindSomething() async throws {
        let engine = try await EngineUnderTest(sdl: Self.sdl, handlers: Handlers(), seed: "")
        let sink = try engine.subscribe("query @live { person(login: \"late\") { name } }")
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.run(
            "mutation { addPerson(input: {login: \"other\"}) { person { id } } }")
        try await engine.everyPublication()
        let executions = engine.service.subscriptionExecutions.run
        for mutation in [
            "updatePerson(input: {id: \"Person-1\", name: \"x\"}) { person { id } }",
            "addTeam(input: {key: \"late\"}) { team { id } }",
            "deleteTeam(input: {id: \"Team-2\"}) { deletedId }",
            "deletePerson(input: {id: \"Person-1\"}) { deletedId }",
        ] {
            let answer = try await engine.run("mutation { \(mutation) }")
            #expect(answer["errors"] == nil, "\(answer)")
            try await engine.everyPublication()
            #expect(engine.service.subscriptionExecutions.run == executions, "\(mutation)")
        }
        _ = try await engine.run(
            "mutation { addPerson(input: {login: \"late\", name: \"y\"}) { person { id } } }")
        #expect(
            try await engine.results(of: sink, count: 2)[1]["data"] == ["person": ["name": "y"]])
    }
}
