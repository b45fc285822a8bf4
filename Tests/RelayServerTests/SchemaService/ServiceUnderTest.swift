import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import SchemaService

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A service on records in memory: documents in, responses out, every mutation a commit.
struct ServiceUnderTest {
    let schema: ServiceSchema
    let service: SchemaService
    private(set) var snapshot: Snapshot
    /// Of who asks.
    var cursorSeal: CursorSeal?
    /// What the last mutation wrote.
    private(set) var lastWrites = WriteSet.empty
    /// The last mutation as the log would have it.
    private(set) var lastIntent = MutationIntent(field: "", arguments: [:])
    private(set) var lastResponse = MutationResponse(mutation: 0, writes: .empty, result: nil)
    var timeMicroseconds: Int64 = 1_764_000_000_123_456
    private var recordsMade = 0

    init(_ sdl: String, seed: String = "", handlers: Handlers = Handlers()) throws {
        schema = try ServiceSchema(sdl, handlers: handlers)
        snapshot = Snapshot(indexes: schema.indexes)
        service = SchemaService(schema, symbols: snapshot.symbols)
        let seed = try SeedFile.read(
            Array(seed.utf8), for: schema, timeMicroseconds: timeMicroseconds)
        var changes = ChangeSet()
        snapshot.apply(seed.writes, changes: &changes)
    }

    static func todo() throws -> ServiceUnderTest {
        try ServiceUnderTest(
            try Example.text("todo.graphql"), seed: try Example.text("todo.seed.ndjson"))
    }

    /// Ada (`p1`) owns the project `relay` (`j1`); `i1` and `i2` are its issues.
    static func tracker() throws -> ServiceUnderTest {
        try ServiceUnderTest(
            try Example.text("tracker.graphql"),
            seed: """
                {"id":"p1","type":"Person","fields":{"login":"ada","name":"Ada"}}
                {"id":"p2","type":"Person","fields":{"login":"bob"}}
                {"id":"j1","type":"Project","fields":{"key":"relay","title":"Relay","owner":{"ref":"p1"},"issues":{"refs":["i1","i2"]}}}
                {"id":"i1","type":"Issue","fields":{"title":"One","open":true,"priority":"HIGH","author":{"ref":"p1"}}}
                {"id":"i2","type":"Issue","fields":{"title":"Two","open":false,"priority":"LOW","estimate":2}}
                """)
    }

    // MARK: Operations

    /// The response to a query.
    func query(_ text: String, _ variables: JSONObject = [:]) throws -> String {
        let operation = try prepare(text)
        let variables = try operation.coerce(variables)
        var execution = Execution(
            operation.plan(for: variables), variables: variables, on: snapshot,
            schema: service.executable, identity: .unrestricted, cursorSeal: cursorSeal)
        return String(decoding: execution.response(), as: UTF8.self)
    }

    /// What the response to a query is read from.
    func dependencies(of text: String) throws -> Dependencies {
        let operation = try prepare(text)
        var execution = Execution(
            operation.plan(for: .none), variables: .none, on: snapshot,
            schema: service.executable, identity: .unrestricted, recordsDependencies: true)
        _ = execution.response()
        let dependencies = execution.dependencies
        return try #require(dependencies)
    }

    /// What comes of some writes, which are not kept.
    func after(_ change: (inout Draft) -> Void) -> (changes: ChangeSet, snapshot: Snapshot) {
        var draft = Draft(on: snapshot)
        change(&draft)
        return (draft.changes, draft.snapshot)
    }

    /// The response to a mutation of one root field, which is committed unless it is refused.
    mutating func mutate(_ text: String, _ variables: JSONObject = [:]) throws -> String {
        let operation = try prepare(text)
        let variables = try operation.coerce(variables)
        var execution = Execution(
            operation.plan(for: variables), variables: variables, on: snapshot,
            schema: service.executable, identity: .unrestricted, cursorSeal: cursorSeal)
        execution.beginRootFields()
        let field = execution.rootField(0).name
        let result: Result<ObjectValue, ExecutionError>
        do throws(ExecutionError) {
            let outcome = try run(field, try execution.rootArguments(0))
            result = .success(.payload(outcome.payload))
            execution.move(to: snapshot)
        } catch {
            result = .failure(error)
        }
        if !execution.writeRootField(0, result) { execution.discardData() }
        return String(decoding: execution.finish(), as: UTF8.self)
    }

    /// Runs a handler and commits what it wrote.
    @discardableResult
    mutating func run(
        _ field: String, _ arguments: JSONObject
    ) throws(ExecutionError) -> MutationOutcome {
        guard case .atOnce(let mutation)? = service.mutations[field] else {
            throw ExecutionError("There is no mutation \(field).")
        }
        var draft = Draft(on: snapshot)
        let made = recordsMade
        let context = MutationContext(timeMicroseconds: timeMicroseconds) {
            DataID("\($0)-\(made + 1)")
        }
        lastWrites = .empty
        let outcome: MutationOutcome
        do throws(ExecutionError) {
            outcome = try mutation.run(
                arguments: arguments, draft: &draft, context: context,
                access: MutationAccess(unrestricted: field))
        } catch {
            #expect(draft.writeSet.isEmpty, "a refused mutation writes nothing")
            throw error
        }
        recordsMade += 1
        snapshot = draft.snapshot
        lastWrites = draft.writeSet
        lastIntent = MutationIntent(field: field, arguments: .object(arguments))
        lastResponse = MutationResponse(mutation: 1, writes: draft.writeSet, result: outcome.result)
        let rebuilt = service.payload(of: lastIntent, lastResponse, in: snapshot)
        #expect(rebuilt == outcome.payload, "the log gives the same payload")
        return outcome
    }

    private func prepare(_ text: String) throws -> PreparedOperation {
        try PreparedOperation(
            try Document(parsing: text), operationName: nil, schema: service.executable)
    }

    // MARK: Records

    /// Makes the look-ups anew from the records, as a start does.
    mutating func restart() { snapshot = snapshot.indexed(by: schema.indexes) }

    /// A record's fields in the form of the seed file.
    func fields(_ id: String) -> JSONValue? {
        snapshot.existing(id).flatMap { snapshot.recordJSON($0)?.json["fields"] }
    }
}

/// The files in docs/examples.
enum Example {
    static func text(_ name: String, file: String = #filePath) throws -> String {
        let top = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        let path = (top + ["docs", "examples", Substring(name)]).joined(separator: "/")
        guard let file = fopen(path, "r") else { throw MissingExample(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

struct MissingExample: Error { let path: String }
