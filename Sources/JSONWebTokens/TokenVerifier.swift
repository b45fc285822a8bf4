import RelayJSON

/// Checks JSON Web Tokens (RFC 7519) that are signed (RFC 7515), as RFC 8725 advises.
///
/// A token passes if and only if
/// 1. it is three texts in Base64url, of at most ``byteLimit`` bytes in all (`SignedToken`);
/// 2. its header asks for nothing that is unknown here (`TokenHeader`);
/// 3. a key of the header's algorithm, and with the header's key id if it has one, made its signature (`KeySet`);
/// 4. its claims say that it is good now, and here, and for whom (`TokenClaims`).
///
/// The steps are taken in this order: claims that nobody signed are not even parsed.
///
///     let verifier = TokenVerifier(keys: { keys }, now: { microseconds })
///     let viewer = try verifier.viewer(of: token)
package struct TokenVerifier: Sendable {
    package struct Options: Sendable {
        /// What `iss` must be; nil: it is not looked at.
        package var issuer: String?
        /// What `aud` must be or contain; nil: it is not looked at.
        package var audience: String?
        /// The claim that says who it is.
        package var viewerClaim: String
        /// How wrong clocks may be, 0 to 3,600 seconds: added to `exp`, taken from `nbf` and `iat`.
        package var leewaySeconds: Int

        package init(
            issuer: String? = nil, audience: String? = nil, viewerClaim: String = "sub",
            leewaySeconds: Int = 30
        ) {
            self.issuer = issuer
            self.audience = audience
            self.viewerClaim = viewerClaim
            self.leewaySeconds = leewaySeconds
        }
    }

    /// Longer tokens are refused unseen.
    package static let byteLimit = 16_384
    package static let leewayLimitSeconds = 3_600

    private let options: Options
    private let keys: @Sendable () -> KeySet
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - keys: asked once for each token; see ``KeySource/keysAtHand``.
    ///   - now: microseconds since 1970-01-01 00:00 UTC.
    package init(
        keys: @escaping @Sendable () -> KeySet, options: Options = Options(),
        now: @escaping @Sendable () -> Int64
    ) {
        self.keys = keys
        self.options = options
        self.now = now
    }

    /// Whether there are keys, without which every token is refused.
    package var hasKeys: Bool { !keys().isEmpty }

    /// Who the token speaks for.
    /// - Throws: what is wrong, for the server's log. Clients are not told.
    package func viewer(of token: String) throws(TokenError) -> VerifiedToken {
        // Contiguous already, nearly always: then there is no copy.
        var token = token
        let result = token.withUTF8 { bytes -> Result<VerifiedToken, TokenError> in
            do throws(TokenError) { return .success(try viewer(of: bytes)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func viewer(of bytes: UnsafeBufferPointer<UInt8>) throws(TokenError) -> VerifiedToken {
        let token = try SignedToken(bytes)
        let header = try TokenHeader(token.header)
        let candidates = try keys().candidates(for: header.algorithm, id: header.keyID)
        let signature = try token.signature(header.algorithm)
        guard candidates.contains(where: { $0.verifies(signature, of: token.signed) }) else {
            throw .wrongSignature(header.algorithm, keyID: header.keyID)
        }
        return try TokenClaims(token.claims).viewer(options: options, now: now())
    }
}
