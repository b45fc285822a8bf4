import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine

/// What answering one query costs: `relay bench query`.
struct QueryBenchmark {
    private let schema: ExecutableSchema
    private let snapshot: Snapshot
    private let text: String

    /// Makes a store from a seed, in memory.
    /// - Throws: `SchemaMistakes`, `SeedErrors`, or the errors of a query that cannot be executed.
    init(schema: String, seed: [UInt8], document: String) throws {
        let serviceSchema = try ServiceSchema(schema)
        var snapshot = Snapshot(indexes: serviceSchema.indexes)
        let file = try SeedFile.read(seed, for: serviceSchema, timeMicroseconds: 0)
        var changes = ChangeSet()
        snapshot.apply(file.writes, changes: &changes)
        self.snapshot = snapshot
        self.schema = SchemaService(serviceSchema, symbols: snapshot.symbols).executable
        text = document
    }

    /// The whole path, nothing cached: parse, validate, plan, execute, write.
    func request() throws -> [UInt8] {
        let document = try parse()
        let mistakes = document.validate(against: schema.schema)
        guard mistakes.isEmpty else {
            throw ExecutionErrors(errors: mistakes.map(ExecutionError.init))
        }
        return execute(try PreparedOperation(document, operationName: nil, schema: schema))
    }

    func parse() throws -> Document { try Document(parsing: text) }

    /// The operation as the server keeps it.
    func prepare() throws -> PreparedOperation {
        try PreparedOperation(parse(), operationName: nil, schema: schema)
    }

    /// Executes an operation that is ready.
    func execute(
        _ operation: PreparedOperation, as identity: Identity = .unrestricted
    ) -> [UInt8] {
        var execution = Execution(
            operation.plan(for: .none), variables: .none, on: snapshot, schema: schema,
            identity: identity)
        return execution.response()
    }

    /// With the cache, as a server that has seen the query before.
    func cachedRequest() -> () throws -> [UInt8] {
        let cache = OperationCache(schema: schema)
        let request = GraphQLRequest(query: text)
        let records = snapshot.recordCount
        return { execute(try cache.operation(for: request, storedRecords: records)) }
    }
}
