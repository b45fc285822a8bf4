import GraphQLExecution
import Logging
@_spi(Rooms) import RelayRecords
import Threads

/// Determines what clients see of the errors that handlers throw.
///
/// An error that is meant for clients (`CodedError`), or that the program describes, is sent as it is. Any
/// other may contain internal details: it is sent as "Internal error" with an id, and the server's log has
/// the details under this id.
///
/// The same error of the same handler keeps its id while the process lives, so that a live result that fails
/// again is not a new result. It is logged once a minute, however often clients trigger it.
final class InternalErrors: Sendable {
    private struct Known {
        var isLoggedAt: ContinuousClock.Instant
        var unlogged = 0
    }

    /// Errors tracked for this; if there are more, all are logged again.
    private static let limit = 256
    private static let interval = Duration.seconds(60)

    private let logger: Logger
    private let description: ErrorDescription?
    private let known = Lock<[String: Known]>([:])

    init(_ logger: Logger, _ description: ErrorDescription?) {
        self.logger = logger
        self.description = description
    }

    /// The error in a form that clients may see.
    /// - Parameter handler: what threw it, as named in the schema.
    func told(_ error: any Error, by handler: String) -> any Error {
        if error is ExecutionError { return error }
        if let described = description?(error) { return described }
        if error is any CodedError { return error }
        let text = "\(error)"
        var hasher = Hasher()
        hasher.combine(handler)
        hasher.combine(text)
        let digits = String(UInt(bitPattern: hasher.finalize()), radix: 16)
        let id = String(repeating: "0", count: 16 - digits.count) + digits
        if let unlogged = unlogged(id, now: .now) {
            let more = unlogged > 0 ? " (and \(unlogged) times since this was last logged)" : ""
            logger.error("Internal error \(id): the handler of \(handler) threw \(text)\(more)")
        }
        var told = ExecutionError("Internal error", code: .internalError)
        told.id = id
        return told
    }

    /// How often an error has occurred since it was logged; nil if it is too early to log it again.
    private func unlogged(_ id: String, now: ContinuousClock.Instant) -> Int? {
        known.withLock { known in
            if let entry = known[id], now - entry.isLoggedAt < Self.interval {
                known[id]?.unlogged += 1
                return nil
            }
            let unlogged = known[id]?.unlogged ?? 0
            if known.count >= Self.limit { known = [:] }
            known[id] = Known(isLoggedAt: now)
            return unlogged
        }
    }
}

extension Handlers {
    /// The same handlers, throwing only what clients may see.
    func telling(_ errors: InternalErrors) -> Handlers {
        var told = self
        for (path, body) in resolvers {
            told.resolvers[path] = { context in
                do { return try body(context) } catch { throw errors.told(error, by: path) }
            }
        }
        for (name, checks) in checks {
            told.checks[name] = checks.map { check in
                { variables, context, records in
                    do {
                        try check(variables, context, records)
                    } catch {
                        throw errors.told(error, by: name)
                    }
                }
            }
        }
        for name in accessChecks.keys {
            told.accessChecks[name]?.onError = { _ = errors.told($0, by: name) }
        }
        for (name, mutation) in mutations {
            told.mutations[name] = mutation.telling(errors, name)
        }
        for (name, subscription) in subscriptions {
            told.subscriptions[name] = subscription.telling(errors, name)
        }
        return told
    }
}

extension RegisteredMutation {
    fileprivate func telling(_ errors: InternalErrors, _ name: String) -> RegisteredMutation {
        @Sendable func telling(_ body: @escaping MutationBody) -> MutationBody {
            { records, variables, context in
                do {
                    return try body(&records, variables, context)
                } catch {
                    throw errors.told(error, by: name)
                }
            }
        }
        switch self {
        case .atOnce(let body): return .atOnce(telling(body))
        case .waiting(let prepare):
            return .waiting { variables, context, records in
                do {
                    return telling(try await prepare(variables, context, records))
                } catch {
                    throw errors.told(error, by: name)
                }
            }
        }
    }
}

extension RegisteredSubscription {
    fileprivate func telling(_ errors: InternalErrors, _ name: String) -> RegisteredSubscription {
        switch self {
        case .sequence(let handler):
            return .sequence(
                SubscriptionHandler { context, send in
                    do {
                        try await handler.run(context, send)
                    } catch {
                        // Errors of a cancelled subscription are not reported.
                        throw Task.isCancelled ? error : errors.told(error, by: name)
                    }
                })
        case .commits(let body):
            return .commits { commit, subscription in
                do {
                    return try body(commit, subscription)
                } catch {
                    throw errors.told(error, by: name)
                }
            }
        }
    }
}
