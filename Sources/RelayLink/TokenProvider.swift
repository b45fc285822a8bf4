/// Gives the token by which a server knows us.
///
/// It is asked before each connection, and for HTTP requests: those that need a token while a call is under way share that
/// call's answer. So it should remember its token. A call is cancelled when all requests that wait for it are: what must
/// not be broken off, such as a refresh that uses up its refresh token, belongs in a `Task` of the provider's own. When the
/// server has refused that token (401, or close code 4403), it is asked once more for a fresh one; if that
/// is refused too, operations fail with `unauthenticated`.
///
/// When it throws, because it has no network either, say, it is asked again later, as a server that cannot be
/// reached is tried again: queries fail after some tries, with what it threw as the `cause`; mutations and
/// subscriptions wait. For a user who is not signed in, let it give nil: then the server says what that means.
public struct TokenProvider: Sendable {
    package let token: @Sendable (_ isRefused: Bool) async throws -> String?

    /// - Parameter token: gives the token, without `Bearer`; nil for none. `isRefused` is true when the
    ///   last one was refused.
    public init(_ token: @escaping @Sendable (_ isRefused: Bool) async throws -> String?) {
        self.token = token
    }

    /// Always the same token.
    public static func constant(_ token: String) -> TokenProvider { TokenProvider { _ in token } }
}
