import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService

/// An open server's answers about a store.
struct UnruledStore {
    private let service: SchemaService
    private var snapshot: Snapshot

    init(_ schema: ServiceSchema, _ model: AccessModel) throws {
        snapshot = Snapshot(indexes: schema.indexes)
        service = SchemaService(schema, symbols: snapshot.symbols)
        let seed = try SeedFile.read(Array(model.seed.utf8), for: schema, timeMicroseconds: 0)
        var changes = ChangeSet()
        snapshot.apply(seed.writes, changes: &changes)
    }

    func answer(_ text: String) throws -> JSONValue {
        let operation = try PreparedOperation(
            try Document(parsing: text), operationName: nil, schema: service.executable)
        let variables = try operation.coerce([:])
        var execution = Execution(
            operation.plan(for: variables), variables: variables, on: snapshot,
            schema: service.executable, identity: .unrestricted)
        return try JSONValue(parsing: execution.response())
    }
}
