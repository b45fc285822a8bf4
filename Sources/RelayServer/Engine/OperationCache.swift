import GraphQLExecution
import GraphQLLanguage
import Synchronization

/// Operations that have been parsed, validated and prepared, by their text and name.
///
/// Bounded by two generations: when the younger is full it becomes the older, and the older is dropped; what
/// is asked for moves to the younger. So what is in use stays, and hostile texts only pass through.
final class OperationCache: Sendable {
    private struct Key: Hashable {
        let text: String
        let name: String?
    }

    private struct State {
        var young: [Key: PreparedOperation] = [:]
        var old: [Key: PreparedOperation] = [:]
    }

    private let state = Mutex(State())
    private let generationLimit: Int
    private let schema: ExecutableSchema
    private let parseLimits: ParseLimits

    init(schema: ExecutableSchema, parseLimits: ParseLimits, generationLimit: Int = 1_024) {
        self.schema = schema
        self.parseLimits = parseLimits
        self.generationLimit = generationLimit
    }

    /// The operation, if it has been prepared before.
    func find(_ text: String, name: String?) -> PreparedOperation? {
        let key = Key(text: text, name: name)
        return state.withLock { state in
            if let known = state.young[key] { return known }
            guard let known = state.old[key] else { return nil }
            insert(known, key, &state)
            return known
        }
    }

    /// The operation, prepared now if need be.
    func operation(_ text: String, name: String?) throws(ExecutionErrors) -> PreparedOperation {
        if let known = find(text, name: name) { return known }
        let prepared = try prepare(text, name: name)
        state.withLock { insert(prepared, Key(text: text, name: name), &$0) }
        return prepared
    }

    private func insert(_ operation: PreparedOperation, _ key: Key, _ state: inout State) {
        if state.young.count >= generationLimit {
            state.old = state.young
            state.young = [:]
        }
        state.young[key] = operation
    }

    private func prepare(_ text: String, name: String?) throws(ExecutionErrors) -> PreparedOperation {
        let document: Document
        do throws(GraphQLError) {
            document = try Document(parsing: text, limits: parseLimits)
        } catch {
            throw ExecutionErrors(errors: [ExecutionError(error)])
        }
        let mistakes = document.validate(against: schema.schema)
        guard mistakes.isEmpty else {
            throw ExecutionErrors(errors: mistakes.map(ExecutionError.init))
        }
        do throws(ExecutionError) {
            return try PreparedOperation(document, operationName: name, schema: schema)
        } catch {
            throw ExecutionErrors(errors: [error])
        }
    }
}
