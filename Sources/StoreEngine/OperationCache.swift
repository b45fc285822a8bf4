package import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import Threads

/// Turns requests into operations: finds a request's document, then parses, validates and prepares it unless
/// that was done before. Anything over a limit is refused before work is spent on it.
package final class OperationCache: Sendable {
    private struct Key: Hashable {
        let text: ExactText
        let name: String?

        init(text: String, name: String?) {
            self.text = ExactText(text)
            self.name = name
        }

        init(_ request: GraphQLRequest) {
            self.init(text: request.query, name: request.operationName)
        }
    }

    private final class Entry: Sendable {
        let operation: PreparedOperation
        let complexity: ComplexityEstimate
        /// Made for the first stream that asks for records.
        let normalization = Lock<MadeNormalization?>(nil)

        init(_ operation: PreparedOperation, _ complexity: ComplexityEstimate) {
            self.operation = operation
            self.complexity = complexity
        }
    }

    private struct MadeNormalization {
        /// Nil if results are not split.
        let value: Normalization?
    }

    private let entries: Lock<GenerationalCache<Key, Entry>>
    private let schema: ExecutableSchema
    private let limits: DocumentLimits
    private let persisted: PersistedOperations

    /// Bytes of operations kept in each of two generations.
    package static let generationBytes = 64 << 20
    /// Cost of an operation, excluding its document, its plans and its normalization.
    private static let entryBytes = 2_048
    /// Approximate cost of one selection in the document and in a plan.
    private static let selectionBytes = 1_024
    /// A list may be assumed to be this long even if there are fewer records. `first: 2147483647`, a common
    /// way to ask for everything, is no reason to refuse, but several of them nested are.
    private static let leastLongestList = 10_000

    package init(
        schema: ExecutableSchema, limits: DocumentLimits = .init(),
        persisted: PersistedOperations = .init(), generationBytes: Int = generationBytes
    ) {
        self.schema = schema
        self.limits = limits
        self.persisted = persisted
        entries = Lock(GenerationalCache(generationCost: generationBytes))
    }

    /// The operation, if it was prepared before, with its normalization if the request needs that, and the request is
    /// within the limits.
    /// - Parameter storedRecords: the number of records; no list is assumed to be much longer.
    func find(
        _ request: GraphQLRequest, storedRecords: @autoclosure () -> Int
    ) -> PreparedOperation? {
        guard let text = persisted.findText(of: request), text.utf8.count <= limits.bytes,
            let entry = find(Key(text: text, name: request.operationName)),
            !RelayExtensions.needsRecords(request) || !entry.operation.isStream
                || entry.normalization.withLock({ $0 != nil }),
            isWithinLimit(entry, request.variables, storedRecords)
        else { return nil }
        return entry.operation
    }

    /// The operation, prepared now if necessary.
    package func operation(
        for request: GraphQLRequest, storedRecords: @autoclosure () -> Int
    ) throws(ExecutionErrors) -> PreparedOperation {
        let key: Key
        do throws(ExecutionError) {
            try limits.check(request.query)
            key = Key(text: try persisted.text(of: request), name: request.operationName)
        } catch {
            throw ExecutionErrors(errors: [error])
        }
        let entry = try entry(for: key)
        guard isWithinLimit(entry, request.variables, storedRecords) else {
            let message = """
                The result may have more than \(limits.complexity) fields; ask for shorter pages by \
                "first" or "last", or for less in each.
                """
            throw ExecutionErrors(errors: [.limitExceeded(message)])
        }
        return entry.operation
    }

    /// The operation of an accepted request, if it was prepared before.
    /// - Parameter request: with the text of its document.
    func find(accepted request: GraphQLRequest) -> PreparedOperation? {
        find(Key(request))?.operation
    }

    /// The operation of a request that was measured when it was accepted: a stream's, whose estimate may have grown since,
    /// with the store, or one that another server has handed on.
    /// - Parameter request: with the text of its document.
    func operation(
        ofAccepted request: GraphQLRequest
    ) throws(ExecutionErrors) -> PreparedOperation {
        try entry(for: Key(request)).operation
    }

    /// Prepares a stream's request again, likewise.
    func prepare(
        _ request: SubscriptionRequest
    ) throws(ExecutionErrors) -> PreparedSubscription {
        let (asked, key) = (request.request, Key(request.request))
        let entry = try entry(for: key)
        let variables = try entry.operation.coerce(asked.variables)
        return PreparedSubscription(
            request: request, operation: entry.operation, variables: variables,
            normalization: request.needsRecords ? try normalization(entry, key) : nil,
            ownByteCount: asked.approximateByteCount + variables.subscriptionByteCount)
    }

    /// How the results of a request's operation are split into records; nil if they are not.
    /// - Parameters:
    ///   - request: with the text of its document, which was measured when it was sent.
    ///   - isNeeded: false if its results are always sent whole; then none is made, now or later.
    func normalization(
        for request: GraphQLRequest, isNeeded: Bool = true
    ) throws(ExecutionErrors) -> Normalization? {
        let key = Key(request)
        let entry = try entry(for: key)
        if isNeeded { return try normalization(entry, key) }
        entry.normalization.withLock { $0 = $0 ?? MadeNormalization(value: nil) }
        return nil
    }

    private func normalization(
        _ entry: Entry, _ key: Key
    ) throws(ExecutionErrors) -> Normalization? {
        if let known = entry.normalization.withLock({ $0 }) { return known.value }
        let made: MadeNormalization
        do throws(ExecutionError) {
            made = MadeNormalization(
                value: try Normalization(of: entry.operation, schema: schema.schema))
        } catch {
            throw ExecutionErrors(errors: [error])
        }
        // If two made it at the same time, both use that of the first.
        let first = entry.normalization.withLock { kept in
            defer { kept = kept ?? made }
            return kept
        }
        if let first { return first.value }
        entries.withLock { $0.grow(key, by: made.value?.byteCount ?? 0) }
        return made.value
    }

    private func entry(for key: Key) throws(ExecutionErrors) -> Entry {
        if let known = find(key) { return known }
        let prepared = try prepare(key)
        let cost =
            Self.entryBytes + prepared.operation.document.approximateByteCount
            + prepared.operation.keptSelections * Self.selectionBytes
        // If two prepared it at the same time, both use that of the first: equal subscriptions are one group by their
        // operation.
        return entries.withLock { entries in
            if let first = entries.find(key) { return first }
            entries.insert(prepared, for: key, cost: cost)
            return prepared
        }
    }

    /// The text of a request's document, which the request may give only by name.
    func text(of request: GraphQLRequest) -> String? { persisted.findText(of: request) }

    private func find(_ key: Key) -> Entry? { entries.withLock { $0.find(key) } }

    private func isWithinLimit(
        _ entry: Entry, _ variables: JSONObject, _ storedRecords: () -> Int
    ) -> Bool {
        if entry.complexity.fieldCount(variables) <= limits.complexity { return true }
        let longestList = max(storedRecords(), Self.leastLongestList)
        return entry.complexity.fieldCount(variables, longestList: longestList) <= limits.complexity
    }

    private func prepare(_ key: Key) throws(ExecutionErrors) -> Entry {
        let document = try limits.document(key.text.text, validFor: schema.schema)
        do throws(ExecutionError) {
            let operation = try PreparedOperation(
                document, operationName: key.name, schema: schema,
                resultBytes: limits.resultBytes, visitLimit: limits.visits,
                selectionLimit: limits.selections,
                onGrowth: { [weak self] selections in
                    self?.entries.withLock {
                        $0.grow(key, by: selections * Self.selectionBytes)
                    }
                })
            return Entry(
                operation,
                ComplexityEstimate(
                    operation.definition, in: document, schema: schema.schema,
                    assumedListSize: limits.assumedListSize))
        } catch {
            throw ExecutionErrors(errors: [error])
        }
    }

    /// The operator's documents that no request can execute, by id, with the reason.
    func persistedMistakes() -> [(id: String, error: ExecutionError)] {
        persisted.documents.sorted { $0.key < $1.key }.compactMap { id, text in
            do throws(ExecutionErrors) {
                if try limits.document(text, validFor: schema.schema).operations.count == 1 {
                    _ = try prepare(Key(text: text, name: nil))
                }
                return nil
            } catch {
                return error.errors.first.map { (id, $0) }
            }
        }
    }
}
