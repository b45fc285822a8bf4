/// Provides the token that identifies the client to a server.
///
/// It is called before each connection, and for HTTP requests: those that need a token while a call is in flight share
/// that call's answer. So it should cache its token. A call is cancelled when all requests that wait for it are:
/// anything that must not be interrupted, such as a refresh that consumes its refresh token, belongs in a `Task` of the
/// provider's own. If the server has refused the token (401, or close code 4403), the provider is called once more for
/// a fresh one; if that is refused too, operations fail with `unauthenticated`.
///
/// If it throws, say because it is offline too, it is called again later, just as an unreachable server is retried:
/// queries fail after some attempts, with the thrown error as the `cause`; mutations and subscriptions wait. For a user
/// who is not signed in, let it return nil: then the server decides what that means.
public struct TokenProvider: Sendable {
    package let token: @Sendable (_ isRefused: Bool) async throws -> String?

    /// - Parameter token: returns the token, without `Bearer`; nil for none. `isRefused` is true if the
    ///   last one was refused.
    public init(_ token: @escaping @Sendable (_ isRefused: Bool) async throws -> String?) {
        self.token = token
    }

    /// Always the same token.
    public static func constant(_ token: String) -> TokenProvider { TokenProvider { _ in token } }
}
