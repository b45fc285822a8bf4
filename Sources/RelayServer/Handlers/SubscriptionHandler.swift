public import RelayArtifacts
import RelayJSON

/// Who subscribes to what.
public struct SubscriptionContext: Sendable {
    /// The subscription field's, coerced, defaults included.
    public let arguments: VariableData
    /// Who asks, as the authentication named them; nil without authentication.
    public let viewer: String?
    /// All records as they are when the subscription starts, or, where it follows commits, right after the commit.
    public let records: SnapshotReader
}

/// A subscription source that a program has registered, whatever the type of its sequence.
struct SubscriptionHandler: Sendable {
    /// Iterates the sequence; `send` returns when the next element may come.
    let run:
        @Sendable (
            _ context: SubscriptionContext, _ send: @Sendable (JSONValue) async throws -> Void
        ) async throws -> Void

    init(
        _ run:
            @escaping @Sendable (
                SubscriptionContext, @Sendable (JSONValue) async throws -> Void
            ) async throws -> Void
    ) {
        self.run = run
    }

    init<Source: AsyncSequence & Sendable>(
        _ source: @escaping @Sendable (SubscriptionContext) async throws -> Source
    ) where Source.Element: VariableValueConvertible & Sendable {
        run = { context, send in
            for try await element in try await source(context) {
                try await send(element.variableValue.json)
            }
        }
    }
}
