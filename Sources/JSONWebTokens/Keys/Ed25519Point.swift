import CCrypto

/// Whether 32 bytes are a public key of Ed25519 that means something.
///
/// libcrypto takes any 32 bytes as a key. With bytes that are no point, no signature is ever right, and the owner of
/// the file should hear of it. With one of the few points of small order, signatures can be forged without a private
/// key.
enum Ed25519Point {
    /// Decodes as RFC 8032 §5.1.3 says, without computing x: on the curve -x² + y² = 1 + d x² y² it is
    /// x² = u / v with u = y² - 1 and v = d y² + 1.
    /// - Throws: ``KeyRefusal/smallOrder``.
    static func isSound(_ point: [UInt8]) throws(KeyRefusal) -> Bool {
        guard point.count == 32 else { return false }
        let order = callingLibcrypto { () -> Order in Self.order(of: point) }
        if order == .small { throw .smallOrder }
        return order == .large
    }

    private enum Order { case none, small, large }

    private static func order(of point: [UInt8]) -> Order {
        guard let scratch = BN_CTX_new() else { return .none }
        BN_CTX_start(scratch)
        defer {
            BN_CTX_end(scratch)
            BN_CTX_free(scratch)
        }
        // The context keeps them; if there is no memory for one, there is none for the last either.
        let (p, d, y, y2) = (
            BN_CTX_get(scratch), BN_CTX_get(scratch), BN_CTX_get(scratch), BN_CTX_get(scratch)
        )
        let (u, v, product) = (BN_CTX_get(scratch), BN_CTX_get(scratch), BN_CTX_get(scratch))
        guard product != nil else { return .none }

        // The sign of x is in the highest bit.
        let bytes = Array(point.dropLast() + [point[31] & 0x7F])
        guard BN_bin2bn(prime, Int32(prime.count), p) != nil,
            BN_bin2bn(coefficient, Int32(coefficient.count), d) != nil,
            BN_lebin2bn(bytes, Int32(bytes.count), y) != nil, BN_cmp(y, p) < 0,
            BN_mod_sqr(y2, y, p, scratch) == 1,
            BN_mod_sub(u, y2, BN_value_one(), p, scratch) == 1,
            BN_mod_mul(v, d, y2, p, scratch) == 1,
            BN_mod_add(v, v, BN_value_one(), p, scratch) == 1
        else { return .none }

        // u / v is a square if and only if u v is; v is never zero, because -1 / d is none.
        guard BN_mod_mul(product, u, v, p, scratch) == 1 else { return .none }
        let symbol = BN_kronecker(product, p, scratch)
        guard symbol == 0 || symbol == 1 else { return .none }

        // Orders 1, 2: y² = 1. Order 4: y = 0. Order 8: twice the point is one of order 4, where x² = -y²: u + v y² = 0.
        guard BN_mod_mul(product, v, y2, p, scratch) == 1,
            BN_mod_add(product, product, u, p, scratch) == 1
        else { return .none }
        return BN_is_zero(u) == 1 || BN_is_zero(y) == 1 || BN_is_zero(product) == 1
            ? .small : .large
    }

    /// 2^255 - 19, big-endian.
    private static let prime: [UInt8] = [0x7F] + Array(repeating: 0xFF, count: 30) + [0xED]

    /// d of RFC 8032 §5.1, big-endian.
    private static let coefficient: [UInt8] = [
        0x52, 0x03, 0x6C, 0xEE, 0x2B, 0x6F, 0xFE, 0x73, 0x8C, 0xC7, 0x40, 0x79, 0x77, 0x79, 0xE8,
        0x98, 0x00, 0x70, 0x0A, 0x4D, 0x41, 0x41, 0xD8, 0xAB, 0x75, 0xEB, 0x4D, 0xCA, 0x13, 0x59,
        0x78, 0xA3,
    ]
}
