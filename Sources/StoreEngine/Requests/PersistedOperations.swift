import Digests
import GraphQLExecution
import RelayJSON
import Threads

/// Finds the document that a request asks for: the one place that turns ids, hashes and texts into a text.
///
/// There are two kinds of persisted documents: a fixed map supplied by the operator, and documents that
/// clients register by sending text and hash together (automatic persisted queries). The latter are evicted
/// when space runs out.
package final class PersistedOperations: Sendable {
    /// The operator's documents, by id.
    let documents: [String: String]
    /// Only operations in `documents` are executed.
    package let isExclusive: Bool
    /// Registered by clients, by hash.
    private let registered: Lock<GenerationalCache<String, String>>

    /// - Parameters:
    ///   - documents: texts by their ids.
    ///   - isExclusive: refuse every other text.
    ///   - registeredBytes: limit on the text that clients may register, in each of two generations.
    package init(
        documents: [String: String] = [:], isExclusive: Bool = false,
        registeredBytes: Int = 4 << 20
    ) {
        self.documents = documents
        self.isExclusive = isExclusive
        registered = Lock(GenerationalCache(generationCost: registeredBytes))
    }

    /// The text of the document that the request asks for.
    /// - Throws: `PERSISTED_QUERY_NOT_FOUND`, `PERSISTED_QUERY_HASH_MISMATCH`,
    ///   `PERSISTED_QUERY_ID_REQUIRED`, `PERSISTED_QUERY_NOT_IN_LIST`.
    func text(of request: GraphQLRequest) throws(ExecutionError) -> String {
        guard let id = request.documentID else {
            guard !isExclusive else { throw Self.idRequired }
            return request.query
        }
        if let text = document(id) {
            guard request.query.isEmpty || request.query == text else { throw Self.mismatch }
            return text
        }
        guard !isExclusive else { throw Self.notInList(id) }
        guard case .sha256(let hash) = id else { throw Self.notFound(id) }
        if request.query.isEmpty {
            guard let text = registered.withLock({ $0.find(hash) }) else { throw Self.notFound(id) }
            return text
        }
        guard Self.hash(of: request.query) == hash else { throw Self.mismatch }
        let text = request.query
        registered.withLock { $0.insert(text, for: hash, cost: text.utf8.count) }
        return text
    }

    /// The text, if it can be found without hashing anything.
    func findText(of request: GraphQLRequest) -> String? {
        guard let id = request.documentID else { return isExclusive ? nil : request.query }
        guard request.query.isEmpty else { return nil }
        if let text = document(id) { return text }
        guard case .sha256(let hash) = id, !isExclusive else { return nil }
        return registered.withLock { $0.find(hash) }
    }

    private func document(_ id: DocumentID) -> String? {
        switch id {
        case .custom(let name): documents[name]
        // Maps are written with and without the prefix.
        case .sha256(let hash): documents[hash] ?? documents["sha256:" + hash]
        }
    }

    static func hash(of text: String) -> String {
        let hasher = SHA256()
        hasher.update(Array(text.utf8))
        return hasher.finish().hexadecimal
    }
}

// MARK: Refusals

extension PersistedOperations {
    // Messages and codes match Apollo's servers; clients rely on them to retry with the full text.

    private static func notFound(_ id: DocumentID) -> ExecutionError {
        switch id {
        case .sha256: ExecutionError("PersistedQueryNotFound", code: .persistedQueryNotFound)
        case .custom(let name):
            ExecutionError(
                "There is no persisted document \"\(name.shortened)\".",
                code: .persistedQueryNotFound)
        }
    }

    private static let mismatch = ExecutionError(
        "provided sha does not match query", code: .persistedQueryHashMismatch)

    private static let idRequired = ExecutionError(
        "This server runs persisted operations only; name one with \"documentId\".",
        code: .persistedQueryIDRequired)

    private static func notInList(_ id: DocumentID) -> ExecutionError {
        let name =
            switch id {
            case .sha256(let hash): hash
            case .custom(let name): name
            }
        return ExecutionError(
            "This server runs persisted operations only, and \"\(name.shortened)\" is not one of them.",
            code: .persistedQueryNotInList)
    }
}

extension ErrorCode {
    static let persistedQueryNotFound = ErrorCode(rawValue: "PERSISTED_QUERY_NOT_FOUND")
    static let persistedQueryHashMismatch = ErrorCode(rawValue: "PERSISTED_QUERY_HASH_MISMATCH")
    static let persistedQueryIDRequired = ErrorCode(rawValue: "PERSISTED_QUERY_ID_REQUIRED")
    static let persistedQueryNotInList = ErrorCode(rawValue: "PERSISTED_QUERY_NOT_IN_LIST")
}
