import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// What the arguments of an event subscription tell of the input of a mutation.
@Suite(.bounded)
struct EventArgumentAccessTests {
    private static let schema = """
        interface Node { id: ID! }
        type Person implements Node @access(read: { any: [{ field: { id: "$viewer" } }, { claim: { roles: "admin" } }] }) { id: ID! name: String }
        type Issue implements Node @access(read: { viewer: true } update: { viewer: true }) {
          id: ID!
          title: String
          watchers: [Person!] @access(read: { claim: { roles: "admin" } })
          followers: [Person!]
        }
        type Query { node(id: ID!): Node }
        type Mutation { updateIssue(input: UpdateIssueInput!): IssuePayload @update(type: "Issue") }
        input UpdateIssueInput { id: ID! title: String watcherIds: [ID!] followerIds: [ID!] }
        type IssuePayload { issue: Issue }
        type Subscription {
          issueUpdated(title: String, watcherIds: [ID!], followerIds: [ID!]): IssuePayload @on(mutations: ["updateIssue"])
        }
        """

    private static let seed = """
        {"id":"ann","type":"Person","fields":{"name":"Ann"}}
        {"id":"bob","type":"Person","fields":{"name":"Bob"}}
        {"id":"i","type":"Issue","fields":{"title":"One"}}
        """

    private static let ann = Identity("ann")
    private static let bob = Identity("bob")
    private static let admin = Identity.viewer(Viewer(id: "eve", claims: ["roles": ["admin"]]))

    /// Whether a subscription with the argument is told of a mutation with the input.
    private func isTold(_ argument: String, of input: String, _ identity: Identity) async throws
        -> Bool
    {
        let engine = try await EngineUnderTest(
            sdl: Self.schema, handlers: Handlers(), seed: Self.seed)
        let sink = try engine.subscribe(
            "subscription { issueUpdated(\(argument)) { issue { id } } }", as: identity)
        _ = try await engine.run(
            "mutation { updateIssue(input: { id: \"i\" \(input) }) { issue { id } } }")
        try await engine.everyPublication()
        return !engine.resultsSoFar(of: sink).isEmpty
    }

    /// The argument is named after the elements of a list, and the rule is the list's.
    @Test func anArgumentTellsNothingOfAListThatIsHidden() async throws {
        for argument in ["watcherIds: [\"bob\"]", "watcherIds: []"] {
            #expect(try await isTold(argument, of: argument, .unrestricted))
            #expect(try await isTold(argument, of: argument, Self.admin))
            #expect(try await !isTold(argument, of: argument, Self.bob))
        }
        #expect(try await isTold("title: \"Two\"", of: "title: \"Two\"", Self.bob))
    }

    /// Nor of records that are hidden in a list that is not.
    @Test func anArgumentTellsNothingOfHiddenElements() async throws {
        let argument = "followerIds: [\"bob\"]"
        for identity in [.unrestricted, Self.admin, Self.bob] {
            #expect(try await isTold(argument, of: argument, identity))
        }
        #expect(try await !isTold(argument, of: argument, Self.ann))
        let both = "followerIds: [\"bob\", \"ann\"]"
        #expect(try await isTold(both, of: both, Self.admin))
        #expect(try await !isTold(both, of: both, Self.bob))
    }
}
