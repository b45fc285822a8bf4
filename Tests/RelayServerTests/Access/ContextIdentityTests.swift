import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import StoreEngine

/// What programs are told of who asks.
@Suite(.bounded)
struct ContextIdentityTests {
    private static let schema = """
        extend schema @access(default: OPEN)
        interface Node { id: ID! }
        type Note implements Node { id: ID! by: String! }
        type Query { node(id: ID!): Node who: String! }
        type Mutation { sign(text: String!): SignPayload  wait(text: String!): SignPayload }
        type SignPayload { note: Note }
        type Subscription { signed: Signed  names: String! }
        type Signed { commit: String! subscriber: String! isOwn: Boolean! }
        """

    private static func name(_ viewer: String?, _ isUnrestricted: Bool) -> String {
        "\(viewer ?? "nil") \(isUnrestricted)"
    }

    private func engine() async throws -> EngineUnderTest {
        var handlers = Handlers()
        handlers.check("sign") { _, context, _ in
            if !context.isUnrestricted, context.viewer == "mallory" { throw HandlerError("No.") }
        }
        handlers.resolve("Query.who") { Self.name($0.viewer, $0.isUnrestricted) }
        handlers.mutation("sign") { records, _, context in
            let note = records.create(typeName: "Note")
            note["by"] = Self.name(context.viewer, context.isUnrestricted)
            return note.dataID
        }
        handlers.mutation(
            "wait",
            waitingFor: { _, outer, _ in
                let name = Self.name(outer.viewer, outer.isUnrestricted)
                return { records, _, context in
                    let note = records.create(typeName: "Note")
                    note["by"] = "\(name), \(Self.name(context.viewer, context.isUnrestricted))"
                    return note.dataID
                }
            })
        handlers.subscription(
            "signed",
            onCommit: { commit, subscription in
                VariableData([
                    "commit": Self.name(commit.viewer, commit.isUnrestricted),
                    "subscriber": Self.name(subscription.viewer, subscription.isUnrestricted),
                    "isOwn": commit.isOwn(of: subscription),
                ])
            })
        handlers.subscription("names") { subscription in
            AsyncStream { continuation in
                continuation.yield(Self.name(subscription.viewer, subscription.isUnrestricted))
                continuation.finish()
            }
        }
        return try await EngineUnderTest(sdl: Self.schema, handlers: handlers, seed: "")
    }

    private static let identities: [(Identity, name: String)] = [
        (.unrestricted, "nil true"), (.nobody, "nil false"), (Identity("ann"), "ann false"),
        (Identity("bob"), "bob false"),
    ]

    /// Nobody is none of those who may do everything, wherever a program is told who asks.
    @Test func allContextsSayTheSame() async throws {
        let engine = try await engine()
        for (identity, name) in Self.identities {
            #expect(try await engine.run("{ who }", as: identity)["data"]?["who"] == .string(name))
            let signed = try await engine.run(
                "mutation { sign(text: \"x\") { note { by } } }", as: identity)
            #expect(signed["data"]?["sign"]?["note"]?["by"] == .string(name))
            let waited = try await engine.run(
                "mutation { wait(text: \"x\") { note { by } } }", as: identity)
            #expect(waited["data"]?["wait"]?["note"]?["by"] == .string("\(name), \(name)"))
            let sink = try engine.subscribe("subscription { names }", as: identity)
            let first = try await engine.results(of: sink, count: 1)[0]
            #expect(first["data"]?["names"] == .string(name))
        }
    }

    /// What one client without a token did is not another's.
    @Test func aCommitIsTheSubscribersOwnIfItIsKnownToBe() async throws {
        let engine = try await engine()
        let document = "subscription { signed { commit subscriber isOwn } }"
        let sinks = try Self.identities.map { try engine.subscribe(document, as: $0.0) }
        for (identity, _) in Self.identities {
            _ = try await engine.run(
                "mutation { sign(text: \"x\") { note { by } } }", as: identity)
        }
        for (sink, subscriber) in zip(sinks, Self.identities) {
            let events = try await engine.results(of: sink, count: 4)
            for (event, author) in zip(events, Self.identities) {
                let isOwn = author.name == subscriber.name && subscriber.0 != .nobody
                #expect(
                    event["data"]?["signed"]
                        == [
                            "commit": .string(author.name),
                            "subscriber": .string(subscriber.name), "isOwn": .bool(isOwn),
                        ])
            }
        }
    }
}
