import Foundation
import RelayArtifacts

/// Pages through the connection of a fragment.
///
///     let pages = PaginationResource(List_user(key: user), environment: environment)
///     while pages.hasNext { try await pages.loadNext(20) }
///
/// A fetched page becomes part of the connection in the store: followers of the fragment are
/// notified, and ``hasNext`` is what the server said about the connection's new end.
public final class PaginationResource<F: PaginationFragment>: @unchecked Sendable {
    // Unchecked: the environment and the fragment are constant; the rest is behind the lock.

    private enum Direction: Hashable {
        case next
        case previous

        var opposite: Direction { self == .next ? .previous : .next }

        /// The fields of `pageInfo`.
        var names: (hasMore: String, end: String) {
            self == .next ? ("hasNextPage", "endCursor") : ("hasPreviousPage", "startCursor")
        }

        /// The variables of its pages; nil: the connection is not paged that way.
        var config: ConnectionVariableConfig? {
            self == .next ? F.metadata.connection?.forward : F.metadata.connection?.backward
        }
    }

    private let environment: Environment
    private let fragment: F
    private let lock = NSLock()
    private var loading: Set<Direction> = []
    private var fruitless: [Direction: Fruitless] = [:]

    /// Pages that brought nobody further, one after the other.
    private struct Fruitless {
        /// From where the last one was fetched.
        var cursor: String
        /// Those that brought no edges: a server may filter them out, and may lead in a circle.
        var count = 0
        /// Those of them after which the connection ended where it did.
        var sameCount = 0

        static var limit: Int { 100 }
        static var sameLimit: Int { 5 }
    }

    /// - Parameters:
    ///   - fragment: the fragment with the `@connection`.
    ///   - environment: whose network and store are used.
    public init(_ fragment: F, environment: Environment) {
        self.fragment = fragment
        self.environment = environment
    }

    /// Whether the server has more after the connection's end, as far as is known. False where a condition leaves the
    /// `@connection` out for this record.
    public var hasNext: Bool { end(.next) != nil }
    /// Whether the server has more before the connection's start, as far as is known; false as ``hasNext``.
    public var hasPrevious: Bool { end(.previous) != nil }
    /// Whether a page after the end is being fetched.
    public var isLoadingNext: Bool { lock.withLock { loading.contains(.next) } }
    /// Whether a page before the start is being fetched.
    public var isLoadingPrevious: Bool { lock.withLock { loading.contains(.previous) } }

    /// Fetches the page after the connection's end. No effect if there is none, or while one is being
    /// fetched. Cancelling the task cancels the request.
    ///
    /// - Parameter count: the maximum number of edges.
    /// - Returns: the errors that came with the page.
    /// - Throws: as ``Environment/fetch(_:cacheConfig:)``; a ``NetworkError`` also where there were errors and no page, such as
    ///   `"edges": null`: the connection ends where it did. Without errors a ``RepeatedPageError``, also for a page that
    ///   ends where it begins, where the connection ends where it did after five pages in a row, and where a hundred
    ///   have brought nothing.
    @discardableResult
    public func loadNext(_ count: Int) async throws -> [GraphQLError] {
        try await load(.next, count)
    }

    /// Fetches the page before the connection's start. No effect if there is none, or while one is being
    /// fetched. Cancelling the task cancels the request.
    ///
    /// - Parameter count: the maximum number of edges.
    /// - Returns: the errors that came with the page.
    /// - Throws: as ``loadNext(_:)``.
    @discardableResult
    public func loadPrevious(_ count: Int) async throws -> [GraphQLError] {
        try await load(.previous, count)
    }

    /// Fetches the connection from its start again, as when the fragment was first fetched.
    ///
    /// - Parameter variables: those that differ.
    /// - Returns: the errors that came with the data.
    /// - Throws: as ``Environment/fetch(_:cacheConfig:)``.
    @discardableResult
    public func refetch(variables: VariableData = [:]) async throws -> [GraphQLError] {
        var first = VariableData()
        for direction in [Direction.next, .previous] {
            if let config = direction.config { first[config.cursor] = .null }
        }
        first.merge(variables)
        return try await environment.refetch(fragment, variables: first)
    }

    private func load(_ direction: Direction, _ count: Int) async throws -> [GraphQLError] {
        guard lock.withLock({ loading.insert(direction).inserted }) else {
            // Callers that ask until there is no more leave the thread to the one that loads.
            await Task.yield()
            return []
        }
        defer { lock.withLock { _ = loading.remove(direction) } }
        // Not before: the page of another caller may just have come.
        guard let end = end(direction) else { return [] }
        let (config, cursor, edgeCount) = (end.config, end.cursor, end.edgeCount)
        var variables = VariableData()
        // What the fragment was fetched with would cut the page off at its other end, as Relay knows.
        if let other = direction.opposite.config {
            variables[other.count] = .null
            variables[other.cursor] = .null
        }
        variables[config.count] = .int(count)
        variables[config.cursor] = .string(cursor)
        let operation = environment.refetchOperation(fragment, variables)
        let response = try await environment.response(to: operation)
        let errors = response?.errors ?? []
        // Whoever asks until there is no more would ask for ever.
        let next = self.end(direction)
        let isSame = next?.cursor == cursor
        guard let next, isSame || next.edgeCount <= edgeCount else {
            clearFruitless(direction)
            return errors
        }
        let isLast = noteFruitless(direction, cursor, isSame: isSame)
        let path = F.metadata.path + (F.metadata.connection?.path ?? [])
        let arrived = ArrivedPage(in: response, at: path, from: cursor, direction.names)
        // The first page may have been fetched again since it came.
        if !isSame || arrived.mayHaveCome, !isLast { return errors }
        clearFruitless(direction)
        let request = operation.request
        guard errors.isEmpty else {
            throw NetworkError(
                errors: errors, operation: request.node, variables: request.variables)
        }
        throw RepeatedPageError(operation: request.node.params.name, cursor: cursor)
    }

    /// - Parameter isSame: the connection still ends where it did.
    /// - Returns: whether it was the last one that is put up with.
    private func noteFruitless(_ direction: Direction, _ cursor: String, isSame: Bool) -> Bool {
        lock.withLock {
            var run = fruitless[direction] ?? Fruitless(cursor: cursor)
            run.count += 1
            run.sameCount = isSame ? (run.cursor == cursor ? run.sameCount : 0) + 1 : 0
            run.cursor = cursor
            fruitless[direction] = run
            return run.sameCount >= Fruitless.sameLimit || run.count >= Fruitless.limit
        }
    }

    private func clearFruitless(_ direction: Direction) {
        lock.withLock { _ = fruitless.removeValue(forKey: direction) }
    }

    /// An end of the connection, after which the server has more.
    private struct End {
        let config: ConnectionVariableConfig
        let cursor: String
        fileprivate let connection: SelectorData

        var edgeCount: Int { connection.get([SelectorData?]?.self, "edges")?.count ?? 0 }
    }

    /// Nil if there is nothing more.
    private func end(_ direction: Direction) -> End? {
        guard let path = F.metadata.connection?.path, let config = direction.config,
            let name = path.last,
            let parent = environment.selectorData(of: fragment)?.get(path: Array(path.dropLast()))
                as? SelectorData,
            // Pages of a field that is none for this record would not become part of what is shown.
            parent.isConnection(name),
            let connection = parent.get(SelectorData?.self, name),
            let info = connection.get(SelectorData?.self, "pageInfo"),
            info.get(Bool?.self, direction.names.hasMore) == true,
            let cursor = info.get(String?.self, direction.names.end)
        else { return nil }
        return End(config: config, cursor: cursor, connection: connection)
    }
}
