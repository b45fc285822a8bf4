import GraphQLExecution
import HTTPMessages
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import RelayServer
@testable import StoreEngine

/// A store with one document, `doc-7`, that zoe sees while she is a member of its folder's space: two links away. All
/// else is visible to whoever is logged in, and everything that the document says begins with "canary".
struct AccessMatrixWorld: Sendable {
    /// What is true of the document at first.
    enum Start { case visible, hidden, absent }

    static let sdl = """
        interface Node { id: ID! }
        interface Titled { title: String! }
        union Found = Doc | Space
        type Person implements Node @access(read: { viewer: true }) { id: ID! login: String! @unique }
        type Space implements Node @access(read: { viewer: true }, update: { viewer: true }) {
          id: ID!
          name: String! @unique
          members: [Person!]!
          docs(tag: String, first: Int, after: String, last: Int, before: String): DocConnection!
          docList: [Doc]!
          titled: [Titled]!
          found: [Found]!
          docCount: Int! @count(field: "docs")
          taggedCount: Int! @count(field: "docs", where: { tag: "canary-tag" })
        }
        type Folder implements Node @access(read: { viewer: true }) { id: ID! space: Space }
        type Doc implements Node & Titled @access(
          read: { field: { folder: { space: { members: "$viewer" } } } }
          create: { viewer: true }
          update: { viewer: true }
          delete: { viewer: true }
        ) {
          id: ID!
          title: String! @unique
          body: String
          tag: String
          folder: Folder
        }
        type Note implements Node @access(
          read: { viewer: true }
          create: { viewer: true }
          update: { viewer: true }
          delete: { viewer: true }
        ) {
          id: ID!
          text: String
          doc: Doc
          must: Doc!
          titled: Titled
          found: Found
        }
        type DocConnection { edges: [DocEdge] pageInfo: PageInfo! }
        type DocEdge { node: Doc cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Query {
          node(id: ID!): Node
          nodes(ids: [ID!]!): [Node]!
          doc(id: ID!): Doc @lookup
          note(id: ID!): Note @lookup
          space(id: ID!): Space @lookup
          docs(tag: String, first: Int, after: String, last: Int, before: String): DocConnection! @list(type: "Doc")
          everyDoc: [Doc]! @list(type: "Doc")
          notes(doc: ID, text: String): [Note]! @list(type: "Note")
        }
        type Mutation {
          join(input: JoinInput!): JoinPayload @link(field: "Space.members", parent: "spaceId", child: "personId")
          leave(input: JoinInput!): JoinPayload @unlink(field: "Space.members", parent: "spaceId", child: "personId")
          addDoc(input: AddDocInput!): DocPayload @create(type: "Doc")
          updateDoc(input: UpdateDocInput!): DocPayload @update(type: "Doc")
          deleteDoc(input: DeleteInput!): DeletePayload @delete(type: "Doc")
          addNote(input: AddNoteInput!): NotePayload @create(type: "Note")
          updateNote(input: UpdateNoteInput!): NotePayload @update(type: "Note")
          linkDoc(input: LinkInput!): LinkPayload @link(field: "Space.docs", parent: "spaceId", child: "docId")
          unlinkDoc(input: LinkInput!): LinkPayload @unlink(field: "Space.docs", parent: "spaceId", child: "docId")
          moveDoc(input: MoveInput!): LinkPayload @move(field: "Space.docs", parent: "spaceId", child: "docId", after: "after")
          slowDoc(input: SlowDocInput!): DocPayload
        }
        input JoinInput { spaceId: ID! personId: ID! }
        type JoinPayload { space: Space person: Person }
        input AddDocInput { title: String! folderId: ID }
        input UpdateDocInput { id: ID! title: String body: String tag: String folderId: ID }
        input SlowDocInput { key: String! }
        type DocPayload { doc: Doc }
        input DeleteInput { id: ID! }
        type DeletePayload { deletedId: ID }
        input AddNoteInput { text: String docId: ID mustId: ID! }
        input UpdateNoteInput { id: ID! text: String docId: ID }
        type NotePayload { note: Note }
        input LinkInput { spaceId: ID! docId: ID! }
        input MoveInput { spaceId: ID! docId: ID! after: ID }
        type LinkPayload { space: Space doc: Doc docEdge: DocEdge }
        type Subscription {
          docChanged(id: ID, tag: String): DocPayload @on(mutations: ["updateDoc"])
          docDeleted: DeletePayload @on(mutations: ["deleteDoc"])
          noteChanged(docId: ID): NotePayload @on(mutations: ["updateNote"])
          docLinked: LinkPayload @on(mutations: ["linkDoc"])
          doc(id: ID!): Doc @lookup @live
        }
        """

    /// Amy and whoever may do everything always see the document.
    static func seed(_ start: Start) -> String {
        let refs = start == .visible ? #"["amy","zoe"]"# : #"["amy"]"#
        return """
            {"id":"amy","type":"Person","fields":{"login":"amy"}}
            {"id":"zoe","type":"Person","fields":{"login":"zoe"}}
            {"id":"s","type":"Space","fields":{"name":"S","members":{"refs":\(refs)}}}
            {"id":"t","type":"Space","fields":{"name":"T","members":{"refs":["amy","zoe"]},"docs":{"refs":["d1","doc-7","d2"]},"docList":{"refs":["d1","doc-7","d2"]},"titled":{"refs":["d1","doc-7","d2"]},"found":{"refs":["d1","doc-7","s"]}}}
            {"id":"f","type":"Folder","fields":{"space":{"ref":"s"}}}
            {"id":"g","type":"Folder","fields":{"space":{"ref":"t"}}}
            {"id":"d1","type":"Doc","fields":{"title":"first","body":"b1","tag":"plain","folder":{"ref":"g"}}}
            {"id":"doc-7","type":"Doc","fields":{"title":"canary-title","body":"canary-body","tag":"canary-tag","folder":{"ref":"f"}}}
            {"id":"d2","type":"Doc","fields":{"title":"last","body":"b2","tag":"plain","folder":{"ref":"g"}}}
            {"id":"n","type":"Note","fields":{"text":"n","doc":{"ref":"doc-7"},"must":{"ref":"doc-7"},"titled":{"ref":"doc-7"},"found":{"ref":"doc-7"}}}
            {"id":"o","type":"Note","fields":{"text":"o","doc":{"ref":"d1"},"must":{"ref":"d1"}}}
            """
    }

    /// What may be in no text that zoe is sent while the document is hidden from her.
    static let secrets = ["canary", "doc-7"]

    static let zoe = Identity("zoe")

    /// What zoe's answers come from: an engine, or a server with sockets.
    enum Host: Sendable {
        case engine(EngineUnderTest, Upstream)
        case server(RunningServer)
    }

    let host: Host
    let rules: AccessRules?

    var engine: EngineUnderTest {
        get throws {
            guard case .engine(let engine, _) = host else {
                throw TestFailure("this way is served by sockets")
            }
            return engine
        }
    }

    var upstream: Upstream {
        get throws {
            guard case .engine(_, let upstream) = host else {
                throw TestFailure("this way is served by sockets")
            }
            return upstream
        }
    }

    static func with<Result>(
        _ way: AccessMatrixWay, _ start: Start,
        _ body: (AccessMatrixWorld) async throws -> Result
    ) async throws -> Result {
        guard way == .eventStream else {
            let upstream = Upstream()
            let engine = try await EngineUnderTest(
                sdl: sdl, handlers: handlers(upstream), seed: seed(start),
                recentCommits: way.readsTheLog ? 1 : 4_096,
                limits: { if way == .visitLimit { $0.document.visits = 2 } })
            let world = AccessMatrixWorld(host: .engine(engine, upstream), rules: engine.access)
            if start == .absent { try await world.delete() }
            return try await body(world)
        }
        var result: Result?
        try await RunningServer.run({ configuration in
            configuration.schema = sdl
            configuration.seed = Array(seed(start).utf8)
            configuration.handlers = handlers(Upstream())
            configuration.tokens = ["root"]
            configuration.viewerTokens = [.init(viewer: "zoe", token: "zoe-token")]
        }) { server in
            let world = AccessMatrixWorld(host: .server(server), rules: nil)
            if start == .absent { try await world.delete() }
            result = try await body(world)
        }
        return try #require(result)
    }

    private static func handlers(_ upstream: Upstream) -> Handlers {
        var handlers = Handlers()
        handlers.mutation(
            "slowDoc",
            waitingFor: { _, _, _ in
                _ = try await upstream.answer()
                return { _, _, _ in nil }
            })
        return handlers
    }

    // MARK: What happens

    /// Somebody who may do everything does something.
    func change(_ mutation: String) async throws {
        switch host {
        case .engine(let engine, _): _ = try await engine.run("mutation { \(mutation) }")
        case .server(let server):
            _ = try await server.post(
                ["query": .string("mutation { \(mutation) }")],
                headers: ["authorization": "Bearer root"])
        }
    }

    func show() async throws {
        try await change(#"join(input: { spaceId: "s", personId: "zoe" }) { __typename }"#)
    }

    func hide() async throws {
        try await change(#"leave(input: { spaceId: "s", personId: "zoe" }) { __typename }"#)
    }

    func delete() async throws {
        try await change(#"deleteDoc(input: { id: "doc-7" }) { deletedId }"#)
    }

    /// Changes the document, if it is there, and then another.
    func touch(_ text: String) async throws {
        try await change(
            #"updateDoc(input: { id: "doc-7", body: "canary-\#(text)" }) { doc { id } }"#)
        try await change(#"updateDoc(input: { id: "d1", body: "\#(text)" }) { doc { id } }"#)
    }
}
