/// Gives the token by which a server knows us.
///
/// It is asked before each connection and each HTTP request, so it should remember its token. When the
/// server has refused that token (401, or close code 4403), it is asked once more for a fresh one; if that
/// is refused too, operations fail with `unauthenticated`.
public struct TokenProvider: Sendable {
    let token: @Sendable (_ isRefused: Bool) async throws -> String?

    /// - Parameter token: gives the token, without `Bearer`; nil for none. `isRefused` is true when the
    ///   last one was refused. What it throws fails the operations that wait.
    public init(_ token: @escaping @Sendable (_ isRefused: Bool) async throws -> String?) {
        self.token = token
    }

    /// Always the same token.
    public static func constant(_ token: String) -> TokenProvider { TokenProvider { _ in token } }
}
