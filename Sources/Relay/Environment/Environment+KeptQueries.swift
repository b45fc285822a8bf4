public import Foundation
public import RelayArtifacts

/// A query that is kept from run to run of the program; see ``Environment/keep(_:)-(OperationDescriptor)``.
public struct KeptQuery: Hashable, Sendable {
    /// What of a kept query is there.
    public enum Content: Hashable, Sendable {
        /// Everything, as the server has said it in this run of the program.
        case complete
        /// Everything, as it was said in an earlier run, or to other operations.
        case cached
        /// Not all of it: it was never fetched, its last answer broke off before all parts had come, or it is
        /// collected in part. A record that was deleted is known: it is null.
        case incomplete
        /// An earlier run has kept the query, and this one has not named it yet: how it is read is not known.
        case unnamed
    }

    /// The most bytes that the name of a query that is kept and its variables, as JSON, may have together.
    static let largestBytes = 65_536

    /// The operation's name.
    public let name: String
    /// Its variables, defaults among them.
    public let variables: VariableData
    /// When the server answered it last, without errors, also in an earlier run; nil: not since it is kept.
    public let fetchedAt: Date?
    /// What of it is there.
    public let content: Content
}

/// Why a query can't be kept.
public struct KeptQueryError: SentenceError {
    /// What a program may want to act on.
    public enum Code: Hashable, Sendable {
        /// Mutations and subscriptions are not kept.
        case notAQuery
        /// 1,000 queries are kept. Stop keeping one first.
        case tooMany
        /// The name and the variables, as JSON, are longer than 64 KiB together.
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
    /// Keeps a query's records for good: they are not collected in this run of the program, and with a store on disk
    /// they are there in the next one, without a network too.
    ///
    /// Call it when the program starts, for each query that is to be kept, and at any time for further ones. The list
    /// of kept queries is in the store; how a query is read, only the program knows, so nothing is collected until it
    /// has named all of the list (or the store has doubled). Keeping twice is keeping once. Nothing is fetched.
    ///
    /// - Throws: a ``KeptQueryError``; inside an updater, that the store can't be changed there.
    public func keep(_ operation: OperationDescriptor) throws { try kept.keep(operation) }

    /// The same for an operation with its variables.
    public func keep<Op: Operation>(_ operation: Op) throws {
        try keep(operation.createDescriptor())
    }

    /// A query's records may be collected again, unless something else keeps them. Without effect on one that is not
    /// kept.
    /// - Throws: inside an updater.
    public func stopKeeping(_ operation: OperationDescriptor) throws {
        try kept.stopKeeping(operation.request.node.params.name, operation.request.variables)
    }

    /// The same for an operation with its variables.
    public func stopKeeping<Op: Operation>(_ operation: Op) throws {
        try stopKeeping(operation.createDescriptor())
    }

    /// The same for one of ``keptQueries``: also where the program has no such query any more.
    public func stopKeeping(_ query: KeptQuery) throws {
        try kept.stopKeeping(query.name, query.variables)
    }

    /// The queries that are kept, by this run of the program and by earlier ones, in the order in which they were.
    public var keptQueries: [KeptQuery] { kept.all }
}
