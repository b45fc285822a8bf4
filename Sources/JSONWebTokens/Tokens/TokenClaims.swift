import RelayJSON

/// What a token says, once it is known who said it (RFC 7519 §4).
struct TokenClaims {
    private let members: JSONObject

    init(_ text: UnsafeBufferPointer<UInt8>) throws(TokenError) {
        members = try SignedToken.object(text, .claims)
    }

    /// - Parameter now: microseconds since 1970-01-01 00:00 UTC.
    func viewer(options: TokenVerifier.Options, now: Int64) throws(TokenError) -> VerifiedToken {
        let expiresAt = try checkTimes(leewaySeconds: options.leewaySeconds, now: now)
        if let issuer = options.issuer { try checkIssuer(issuer) }
        if let audience = options.audience { try checkAudience(audience) }
        return VerifiedToken(
            viewer: try viewerID(options.viewerClaim), claims: plainClaims, expiresAt: expiresAt)
    }

    // MARK: Times

    /// - Returns: when the token is no longer good.
    private func checkTimes(leewaySeconds: Int, now: Int64) throws(TokenError) -> Int64 {
        let seconds = min(max(leewaySeconds, 0), TokenVerifier.leewayLimitSeconds)
        let leeway = Int64(seconds) * NumericDate.microseconds
        guard let expires = try time("exp") else { throw .missing(.claims, name: "exp") }
        // §4.1.4: not accepted "on or after" this time.
        guard now < expires + leeway else { throw .expired(at: expires, now: now) }
        // §4.1.5: not accepted before this one.
        if let begins = try time("nbf"), now < begins - leeway {
            throw .notYetValid(from: begins, now: now)
        }
        // §4.1.6 has no rule, but a token from the future is a mistake, ours or the issuer's.
        if let issued = try time("iat"), now < issued - leeway {
            throw .issuedInFuture(at: issued, now: now)
        }
        return expires + leeway
    }

    private func time(_ name: String) throws(TokenError) -> Int64? {
        guard let value = members[name] else { return nil }
        guard let time = NumericDate.microseconds(value) else {
            throw .malformed(.claims, name: name)
        }
        return time
    }

    // MARK: From whom, for whom

    /// §4.1.1: texts are compared byte by byte.
    private func checkIssuer(_ issuer: String) throws(TokenError) {
        guard let value = members["iss"] else { throw .missing(.claims, name: "iss") }
        guard let found = value.string else { throw .malformed(.claims, name: "iss") }
        guard found.isSame(as: issuer) else { throw .wrongIssuer(found) }
    }

    /// §4.1.3: one text, or a list of them.
    private func checkAudience(_ audience: String) throws(TokenError) {
        guard let value = members["aud"] else { throw .missing(.claims, name: "aud") }
        let found = value.array ?? [value]
        let texts = found.compactMap(\.string)
        guard texts.count == found.count else { throw .malformed(.claims, name: "aud") }
        guard texts.contains(where: { $0.isSame(as: audience) }) else {
            throw .wrongAudience(texts)
        }
    }

    // MARK: Who

    /// A text, or a whole number, which some issuers use for ids of their own.
    private func viewerID(_ claim: String) throws(TokenError) -> String {
        guard let value = members[claim] else { throw .missing(.claims, name: claim) }
        if let number = value.int { return String(number) }
        // U+FFFD stands for whatever is not Unicode: two ids with it need not be the same.
        guard let id = value.string, !id.isEmpty, !id.unicodeScalars.contains("\u{FFFD}") else {
            throw .malformed(.claims, name: claim)
        }
        return id
    }

    private var plainClaims: JSONObject {
        JSONObject(
            members.members.compactMap { member in
                Self.plain(member.value).map { (member.key, $0) }
            })
    }

    private static func plain(_ value: JSONValue) -> JSONValue? {
        // One odd element does not make the others untrue: a rule may say who is left out.
        if case .array(let elements) = value {
            let scalars = elements.filter(isScalar)
            return scalars.isEmpty && !elements.isEmpty ? Optional.none : .array(scalars)
        }
        return isScalar(value) ? value : Optional.none
    }

    private static func isScalar(_ value: JSONValue) -> Bool {
        switch value {
        case .string, .int, .double, .bool: true
        case .null, .array, .object: false
        }
    }
}

/// Seconds since 1970-01-01 00:00 UTC, maybe with a fraction (RFC 7519 §2).
enum NumericDate {
    static let microseconds: Int64 = 1_000_000

    /// As far from now as makes no difference, with room to add to it.
    private static let limit = Int64.max / 4

    /// - Returns: nil if it is no number. Times beyond 70,000 years are cut to that.
    static func microseconds(_ value: JSONValue) -> Int64? {
        switch value {
        case .int(let seconds):
            let (product, overflows) = seconds.multipliedReportingOverflow(by: microseconds)
            if overflows { return seconds < 0 ? -limit : limit }
            return min(max(product, -limit), limit)
        case .double(let seconds):
            let product = (seconds * Double(microseconds)).rounded(.down)
            // The largest Double below the limit's neighbours is exact, so that no conversion traps. NaN is neither.
            if product >= Double(limit) { return limit }
            if product <= -Double(limit) { return -limit }
            return Int64(exactly: product)
        case .null, .bool, .string, .array, .object:
            return nil
        }
    }
}
