public import Foundation
public import RelayArtifacts

/// A query that is kept across runs of the program; see ``Environment/keep(_:)-(OperationDescriptor)``.
public struct KeptQuery: Hashable, Sendable {
    /// How much of a kept query is in the store.
    public enum Content: Hashable, Sendable {
        /// All of it, as the server answered it in this run of the program.
        case complete
        /// All of it, from an earlier run or from other operations.
        case cached
        /// Not all of it: it was never fetched, its last answer broke off before all parts had arrived, or part of it
        /// was collected. A record known to be deleted counts as present: it is null.
        case incomplete
        /// An earlier run kept the query, and this run has not named it yet: how to read it is unknown.
        case unnamed
    }

    /// The largest total size of a kept query's name and its variables, as JSON.
    static let largestBytes = 65_536

    /// The operation's name.
    public let name: String
    /// Its variables, including defaults.
    public let variables: VariableData
    /// When the server last answered it without errors, in this run or an earlier one; of a live query to the minute. nil:
    /// not since it is kept.
    public let fetchedAt: Date?
    /// How much of it is in the store.
    public let content: Content
}

/// Why a query cannot be kept.
public struct KeptQueryError: SentenceError {
    /// What a program may want to act on.
    public enum Code: Hashable, Sendable {
        /// Mutations and subscriptions are not kept.
        case notAQuery
        /// 1,000 queries are kept already. Stop keeping one first.
        case tooMany
        /// The name and the variables, as JSON, exceed 64 KiB together.
        case tooLarge
    }

    /// What is wrong.
    public let code: Code
    private let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var errorDescription: String? { "The query is not kept. \(reason)" }
}

extension Environment {
    /// Keeps a query's records permanently: they are not collected in this run of the program, and with a store on
    /// disk they are available in the next one, even without a network.
    ///
    /// Call it at program start for each query to be kept, and at any time for further ones. The list of kept queries
    /// is in the store, but only the program knows how to read a query, so nothing is collected until the program has
    /// named every query of the list (or the store has doubled). Keeping a query twice has no further effect. Nothing
    /// is fetched.
    ///
    /// - Throws: a ``KeptQueryError``; inside an updater, an error that the store cannot be changed there.
    public func keep(_ operation: OperationDescriptor) throws { try kept.keep(operation) }

    /// The same for an operation with its variables.
    public func keep<Op: Operation>(_ operation: Op) throws {
        try keep(operation.createDescriptor())
    }

    /// Allows a query's records to be collected again, unless something else keeps them. No effect if it is not kept.
    /// - Throws: inside an updater.
    public func stopKeeping(_ operation: OperationDescriptor) throws {
        try kept.stopKeeping(operation.request.node.params.name, operation.request.variables)
    }

    /// The same for an operation with its variables.
    public func stopKeeping<Op: Operation>(_ operation: Op) throws {
        try stopKeeping(operation.createDescriptor())
    }

    /// The same for one of ``keptQueries``, including queries that the program no longer has.
    public func stopKeeping(_ query: KeptQuery) throws {
        try kept.stopKeeping(query.name, query.variables)
    }

    /// The queries kept by this run of the program and earlier ones, in the order in which they were added.
    public var keptQueries: [KeptQuery] { kept.all }
}
