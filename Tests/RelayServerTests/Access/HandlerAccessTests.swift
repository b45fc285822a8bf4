import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import StoreEngine

/// What Swift code does for viewers who may not see everything.
@Suite(.bounded)
struct HandlerAccessTests {
    static let schema = """
        interface Node { id: ID! }
        type Person implements Node @access(read: { viewer: true } create: { viewer: true }) {
          id: ID!
          login: String! @unique
        }
        type Project implements Node @access(
          read: { field: { members: "$viewer" } }
          create: { field: { owner: "$viewer" } }
          update: { field: { owner: "$viewer" } }
        ) {
          id: ID!
          name: String! @unique
          owner: Person
          members: [Person!]!
          tasks(first: Int, after: String): TaskConnection!
        }
        type Task implements Node @access(
          read: { field: { project: { members: "$viewer" } } }
          create: { field: { project: { members: "$viewer" } } }
          update: { field: { owner: "$viewer" } }
          delete: { field: { owner: "$viewer" } }
        ) {
          id: ID!
          text: String!
          owner: Person
          project: Project
          related: [Task!]!
        }
        type TaskConnection { edges: [TaskEdge] pageInfo: PageInfo! }
        type TaskEdge { node: Task cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Query {
          node(id: ID!): Node
          project(name: ID!): Project @lookup
          person(login: ID!): Person @lookup
          tasks: [Task!]! @list(type: "Task")
        }
        type Mutation {
          charge(input: ChargeInput!): ChargePayload
          ship(input: ChargeInput!): ChargePayload @access(if: { viewer: true })
          write(input: WriteInput!): WritePayload
          addProject(input: AddProjectInput!): ProjectPayload @create(type: "Project")
          file(input: WriteInput!): WritePayload @access(if: { viewer: true })
          rename(input: RenameInput!): RenamePayload
          updateTask(input: UpdateTaskInput!): UpdatePayload @update(type: "Task")
        }
        input UpdateTaskInput { id: ID! text: String }
        type UpdatePayload { task: Task }
        input ChargeInput { projectId: ID! text: String! }
        type ChargePayload { task: Task taskEdge: TaskEdge project: Project }
        input WriteInput { how: String! id: ID ids: [ID!] inner: WriteInput }
        type WritePayload { task: Task deletedTaskId: ID }
        input AddProjectInput { name: String! ownerId: ID memberIds: [ID!] }
        type ProjectPayload { project: Project }
        input RenameInput { projectId: ID! name: String! }
        type RenamePayload { project: Project }
        type Subscription {
          project(name: ID!): Project @lookup @live
          renamed(projectId: ID): RenamePayload @on(mutations: ["rename"])
        }
        """

    private static let seed = """
        {"id":"ann","type":"Person","fields":{"login":"ann-login"}}
        {"id":"bob","type":"Person","fields":{"login":"bob-login"}}
        {"id":"open","type":"Project","fields":{"name":"Open","owner":{"ref":"ann"},"members":{"refs":["ann","bob"]},"tasks":{"refs":["t1","t2"]}}}
        {"id":"shut","type":"Project","fields":{"name":"Shut","owner":{"ref":"ann"},"members":{"refs":["ann"]},"tasks":{"refs":["t3"]}}}
        {"id":"t1","type":"Task","fields":{"text":"one","owner":{"ref":"bob"},"project":{"ref":"open"}}}
        {"id":"t2","type":"Task","fields":{"text":"two","owner":{"ref":"ann"},"project":{"ref":"open"}}}
        {"id":"t3","type":"Task","fields":{"text":"three","owner":{"ref":"ann"},"project":{"ref":"shut"}}}
        """

    static let ann = Identity("ann")
    static let bob = Identity("bob")

    let upstream = Upstream()
    /// The arguments that the waiting handler was called with.
    let told = Told()
    let engine: EngineUnderTest

    init() async throws {
        var handlers = Handlers()
        for field in ["charge", "ship"] {
            handlers.mutation(
                field,
                waitingFor: { [upstream, told] variables, _, _ in
                    told.add(variables)
                    let text = try await upstream.answer()
                    return { records, variables, context in
                        let project = variables.input?["projectId"]?.stringValue.flatMap {
                            records[DataID($0)]
                        }
                        guard let project else { throw HandlerError("gone") }
                        let task = records.create(typeName: "Task")
                        task["text"] = text
                        task.setLinkedRecord("project", record: project)
                        project.connection("tasks")?.insert(task, edgeType: "TaskEdge", at: .end)
                        return task.dataID
                    }
                })
        }
        for field in ["write", "file"] { handlers.mutation(field, Self.write) }
        handlers.check("updateTask") { variables, _, records in
            let task = variables.input?["id"]?.stringValue.flatMap { records[DataID($0)] }
            if task?["text"] == "three" { throw HandlerError("This task is locked.") }
        }
        handlers.mutation("rename") { records, variables in
            guard let id = variables.input?["projectId"]?.stringValue else { return nil }
            records[DataID(id)]?["name"] = variables.input?["name"]?.stringValue
            return nil
        }
        engine = try await EngineUnderTest(
            sdl: Self.schema, handlers: handlers, seed: Self.seed)
    }

    @Sendable
    private static func write(
        _ records: inout any RecordSourceProxy, _ variables: VariableData
    ) throws -> DataID? {
        // The input does not name them as ids.
        let words =
            variables.input?["how"]?.stringValue?.split(separator: " ").map(String.init) ?? []
        guard words.count > 1 else { return nil }
        let id = DataID(words[1])
        let other = words.count > 2 ? records[DataID(words[2])] : nil
        switch words[0] {
        case "text": records[id]?["text"] = "written"
        case "spoil": records[id]?["text"] = nil
        case "move": records[id]?.setLinkedRecord("project", record: other)
        case "relate": records[id]?.setLinkedRecords("related", records: [other])
        case "unlink": other?.setLinkedRecord("project", record: nil)
        case "absent":
            records.delete(dataID: DataID(words[2]))
            records[id]?.setLinkedRecord("project", record: other)
        case "leave":
            let members = records[id]?.getLinkedRecords("members") ?? []
            records[id]?.setLinkedRecords(
                "members", records: members.filter { $0?.dataID != other?.dataID })
        case "delete": records.delete(dataID: id)
        case "name": records[id]?["name"] = words[2]
        case "add":
            let task = records.create(typeName: "Task")
            task["text"] = "new"
            task.setLinkedRecord("project", record: records[id])
            records[id]?.connection("tasks")?.insert(task, edgeType: "TaskEdge", at: .end)
            if words.count > 2 { records[id]?["name"] = words[2] }
        case "enrol":
            let person = records.create(dataID: DataID(words[2]), typeName: "Person")
            person["login"] = words[2]
            let members = records[id]?.getLinkedRecords("members") ?? []
            records[id]?.setLinkedRecords("members", records: members + [person])
        case "list":
            if let other { records[id]?.connection("tasks")?.move(nodeID: other.dataID, to: .end) }
        case "new":
            let project = records.create(typeName: "Project")
            project["name"] = words[1]
            project.setLinkedRecord("owner", record: other)
            return nil
        default: throw HandlerError("no such way")
        }
        return id
    }

    private static func charge(_ project: String) -> String {
        """
        mutation { charge(input: { projectId: "\(project)", text: "x" }) { task { text } } }
        """
    }

    /// The program does something for a record (it sends mail, it asks a model about the text), so the record must be
    /// there for whoever asks.
    @Test func aHandlerDoesNotStartForARecordThatIsHidden() async throws {
        let before = engine.eventCount
        let hidden = try await engine.run(Self.charge("shut"), as: Self.bob)
        let absent = try await engine.run(Self.charge("none"), as: Self.bob)
        #expect(hidden.firstErrorCode == "NOT_FOUND")
        #expect(
            hidden.firstErrorMessage
                == absent.firstErrorMessage?.replacing("\"none\"", with: "\"shut\""))
        #expect(engine.eventCount == before, "a refused mutation leaves no trace")
        #expect(upstream.timesAsked == 0)
    }

    /// The record that the payload is about is named by its id from the start, and asked for again in the end.
    @Test func aWaitingHandlerGetsTheIDAndTheEndAsksAgain() async throws {
        async let answer = engine.run(Self.charge("Open"), as: Self.bob)
        try await upstream.isAsked()
        #expect(told.first?.input?["projectId"]?.stringValue == "open")
        _ = try await engine.run(
            "mutation { write(input: { how: \"leave open bob\" }) { task { id } } }")
        upstream.give("charged")
        let answered = try await answer
        #expect(answered.firstErrorCode == "NOT_FOUND")
        #expect(answered["data"]?["charge"] == .null)
    }

    /// Whatever has its unique value by then: what was charged is what gets the task.
    @Test func theEndIsAboutTheRecordOfTheBeginning() async throws {
        async let answer = engine.run(Self.charge("Open"), as: Self.ann)
        try await upstream.isAsked()
        _ = try await write("name open Other", as: .unrestricted)
        let other = try await engine.run(
            """
            mutation { addProject(input: { name: "Open", ownerId: "ann", memberIds: ["ann"] }) { project { id } } }
            """)
        #expect(other.firstErrorCode == nil)
        upstream.give("charged")
        #expect(try await answer.firstErrorCode == nil)
        #expect(told.first?.input?["projectId"]?.stringValue == "open")
        let charged = try await engine.run(
            "{ node(id: \"open\") { ... on Project { tasks { edges { node { text } } } } } }")
        #expect("\(charged)".contains("charged"), "\(charged)")
    }

    /// Though the mutation has changed the unique value that named it.
    @Test func thePayloadIsAboutTheRecordThatWasNamed() async throws {
        let sinks = try [Self.ann, .unrestricted].map {
            try engine.subscribe(
                "subscription { renamed(projectId: \"open\") { project { name } } }", as: $0)
        }
        let answer = try await engine.run(
            "mutation { rename(input: { projectId: \"Open\", name: \"Other\" }) { project { name } } }",
            as: Self.ann)
        #expect(answer["data"]?["rename"]?["project"]?["name"] == "Other", "\(answer)")
        for sink in sinks {
            let event = try await engine.results(of: sink, count: 1)[0]
            #expect(event["data"]?["renamed"]?["project"]?["name"] == "Other")
        }
    }

    private func write(
        _ how: String, as identity: Identity, mutation: String = "write", input: String = ""
    ) async throws -> JSONValue {
        let before = engine.eventCount
        let answer = try await engine.run(
            "mutation { \(mutation)(input: { how: \"\(how)\" \(input) }) { task { id } } }",
            as: identity)
        if answer.firstErrorCode != nil {
            #expect(engine.eventCount == before, "a refused mutation leaves no trace")
        }
        return answer
    }

    @Test func swiftCodeLinksToNothingThatIsHidden() async throws {
        let hidden = try await write("move t1 shut", as: Self.bob)
        #expect(hidden.firstErrorCode == "NOT_FOUND")
        #expect(
            hidden.firstErrorMessage
                == "Could not run write: Task.project links to a record that does not exist. Nothing was changed."
        )
        // In these words of a record that is not there.
        let absent = try await write("absent t1 shut", as: Self.ann)
        #expect(absent.firstErrorMessage == hidden.firstErrorMessage)
        let open = try await write("absent t1 shut", as: .unrestricted)
        #expect(open.firstErrorMessage?.contains("a record (\"shut\") that does not exist") == true)
        // Nor does it tell what a hidden record is.
        for how in ["relate t1 t3", "relate t1 shut"] {
            #expect(
                try await write(how, as: Self.bob).firstErrorMessage
                    == "Could not run write: Task.related links to a record that does not exist. Nothing was changed."
            )
        }
        #expect(try await write("relate t1 t2", as: Self.bob).firstErrorCode == nil)
        #expect(try await write("move t2 shut", as: Self.ann).firstErrorCode == nil)
        // Who decides about the mutation's use decides about what it leads to.
        #expect(
            try await write("move t1 shut", as: Self.bob, mutation: "file").firstErrorCode == nil)
    }

    @Test func swiftCodeChangesNothingThatIsHidden() async throws {
        let notFound =
            "Could not run write: a record that it would change does not exist. Nothing was changed."
        for how in ["text t3", "spoil t3", "delete t3", "name shut X", "name shut Open"] {
            let answer = try await write(how, as: Self.bob)
            #expect(answer.firstErrorCode == "NOT_FOUND", "\(how)")
            #expect(answer.firstErrorMessage == notFound, "\(how)")
        }
        #expect(try await write("text t2", as: Self.bob).firstErrorCode == "FORBIDDEN")
        #expect(try await write("text t1", as: Self.bob).firstErrorCode == nil)
    }

    /// An id in the input is a record that must be there for who sends it, wherever in the input it is.
    @Test func anIDInTheInputNamesNothingThatIsHidden() async throws {
        for (input, path) in [
            ("id: \"t3\"", "input.id"), ("ids: [\"t1\", \"t3\"]", "input.ids"),
            ("inner: { how: \"\", ids: [\"t3\"] }", "input.inner.ids"),
        ] {
            for mutation in ["write", "file"] {
                let answer = try await write(
                    "text t1", as: Self.bob, mutation: mutation, input: input)
                #expect(answer.firstErrorCode == "NOT_FOUND")
                #expect(
                    answer.firstErrorMessage
                        == "Could not run \(mutation): there is no record whose id is \"t3\" (\(path)). Nothing was changed."
                )
                #expect(
                    try await write("text t3", as: Self.ann, mutation: mutation, input: input)
                        .firstErrorCode == nil)
            }
        }
        // From those who may see everything nothing is hidden: it may be an id that they make.
        #expect(
            try await write("text t1", as: .unrestricted, input: "id: \"none\"").firstErrorCode
                == nil)
        // Nothing tells it from one that there is not.
        for identity in [Self.bob, Self.ann] {
            let absent = try await write("text t1", as: identity, input: "id: \"none\"")
            #expect(absent.firstErrorCode == "NOT_FOUND")
            #expect(
                absent.firstErrorMessage
                    == "Could not run write: there is no record whose id is \"none\" (input.id). Nothing was changed."
            )
        }
    }

    /// Nor to the check of a mutation with a directive.
    @Test func aCheckDoesNotRunForARecordThatIsHidden() async throws {
        func update(_ id: String, as identity: Identity) async throws -> JSONValue {
            try await engine.run(
                "mutation { updateTask(input: { id: \"\(id)\", text: \"x\" }) { task { id } } }",
                as: identity)
        }
        let hidden = try await update("t3", as: Self.bob)
        let absent = try await update("none", as: Self.bob)
        #expect(hidden.firstErrorCode == "NOT_FOUND")
        #expect(
            hidden.firstErrorMessage == absent.firstErrorMessage?.replacing("none", with: "t3"))
        let locked = try await update("t3", as: Self.ann)
        #expect(locked.firstErrorMessage?.contains("locked") == true, "\(locked)")
        #expect(try await update("t1", as: Self.bob).firstErrorCode == nil)
    }

    /// As with `@create(into:)`: what is in the list is not the list's own.
    @Test func whoeverMayCreateMayPutItIntoAList() async throws {
        // He is a member, and may not change the project.
        #expect(try await write("add open", as: Self.bob).firstErrorCode == nil)
        // Not if the list gives rights: code may give a new record the id of whoever asks.
        #expect(
            try await write("enrol open dan", as: Self.bob, mutation: "write").firstErrorCode
                == "FORBIDDEN")
        #expect(try await write("enrol open dan", as: Self.ann).firstErrorCode == nil)
        // With anything else, or what was there before, it is a change.
        #expect(try await write("add open renamed", as: Self.bob).firstErrorCode == "FORBIDDEN")
        #expect(try await write("list open t1", as: Self.bob).firstErrorCode == "FORBIDDEN")
        #expect(try await write("list open t1", as: Self.ann).firstErrorCode == nil)
    }

    /// Whether a unique value is taken is told to those who may write it.
    @Test func whoMayNotWriteLearnsNothingOfUniqueValues() async throws {
        for name in ["Shut", "Free"] {
            #expect(
                try await write("name open \(name)", as: Self.bob).firstErrorCode == "FORBIDDEN")
            #expect(
                try await write("new \(name) ann", as: Self.bob).firstErrorCode == "FORBIDDEN")
            let names = engine.service.snapshot.symbols.liveCount
            for (identity, owner, code) in [
                (Self.bob, "ann", "FORBIDDEN"), (.nobody, "ann", "NOT_FOUND"),
                (.nobody, nil, "UNAUTHENTICATED"),
            ] as [(Identity, String?, String)] {
                for _ in 0..<5 {
                    let owner = owner.map { "ownerId: \"\($0)\"" } ?? ""
                    let answer = try await engine.run(
                        "mutation { addProject(input: { name: \"\(name)\" \(owner) }) { project { id } } }",
                        as: identity)
                    #expect(answer.firstErrorCode == code)
                }
            }
            // Nor does the store learn a name with each.
            #expect(engine.service.snapshot.symbols.liveCount == names)
        }
        #expect(try await write("name open Shut", as: Self.ann).firstErrorCode == "CONFLICT")
        #expect(try await write("new Shut ann", as: Self.ann).firstErrorCode == "CONFLICT")
        let taken = try await engine.run(
            "mutation { addProject(input: { name: \"Shut\" ownerId: \"ann\" }) { project { id } } }",
            as: Self.ann)
        #expect(taken.firstErrorCode == "CONFLICT")
    }

    /// However often the code makes them, and whatever it is refused for.
    @Test func refusedRecordsLeaveNoNames() async throws {
        func refuse(_ times: Int) async throws {
            for _ in 0..<times {
                let answer = try await write("new Free", as: .nobody)
                #expect(answer.firstErrorCode == "UNAUTHENTICATED")
                #expect(try await write("new Open ann", as: Self.ann).firstErrorCode == "CONFLICT")
            }
        }
        try await refuse(1)
        let before = engine.service.snapshot.symbols.liveCount
        try await refuse(20)
        #expect(engine.service.snapshot.symbols.liveCount == before)
        // The next record has the id that the store knows already.
        let made = try await write("new Free ann", as: Self.ann)
        #expect(made.firstErrorCode == nil)
        #expect(engine.service.snapshot.symbols.liveCount == before)
        try await refuse(20)
        #expect(engine.service.snapshot.symbols.liveCount == before + 1)
    }
}

/// The arguments that a handler was called with.
final class Told: Sendable {
    private let arguments = Lock<[VariableData]>([])

    var first: VariableData? { arguments.withLock { $0.first } }

    func add(_ variables: VariableData) { arguments.withLock { $0.append(variables) } }
}
