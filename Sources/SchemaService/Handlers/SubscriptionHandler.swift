package import GraphQLExecution
public import RelayArtifacts
package import RelayJSON

/// The subscriber and the arguments of a subscription.
public struct SubscriptionContext: Sendable {
    /// The coerced arguments of the subscription field, including defaults.
    public let arguments: VariableData
    /// The viewer, as named by the authentication. Nil for nobody (a client without a token, which may see and do what
    /// the rules let everybody), and for whoever may do everything: see ``isUnrestricted``.
    public let viewer: String?
    /// Everything is allowed: no authentication is configured, or the client has a token without a name.
    public let isUnrestricted: Bool
    /// All records when the subscription starts or, if it follows commits, right after the commit.
    public let records: SnapshotReader

    package init(arguments: VariableData, identity: Identity, records: SnapshotReader) {
        self.arguments = arguments
        viewer = identity.viewerID
        isUnrestricted = identity == .unrestricted
        self.records = records
    }
}

/// A subscription source registered by a program, whatever the type of its sequence.
package struct SubscriptionHandler: Sendable {
    /// Iterates the sequence; `send` returns once the next element may be sent.
    package let run:
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
