package import RelayJSON

/// What is known of whom a good token speaks for.
package struct VerifiedToken: Sendable, Hashable {
    /// The claim that the options name, by default `sub`. Never empty.
    package let viewer: String
    /// The claims that are strings, numbers, booleans or lists of these. Others are left out, also in lists.
    package let claims: JSONObject
    /// When the token is no longer good, leeway included: microseconds since 1970-01-01 00:00 UTC.
    package let expiresAt: Int64
}
