/// A signature of ES256: r and s, 32 bytes each (RFC 7518 §3.4).
enum ECDSASignature {
    static let byteCount = 64

    /// The same in DER, as libcrypto wants it (RFC 3279 §2.2.3).
    /// - Returns: nil if r or s is not from 1 to n - 1. Implementations that forgot this accepted a signature of zeros
    ///   for everything (CVE-2022-21449).
    static func der(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == byteCount else { return nil }
        let numbers = [signature[..<32], signature[32...]]
        var body: [UInt8] = []
        for number in numbers {
            guard number.contains(where: { $0 != 0 }), number.lexicographicallyPrecedes(order)
            else { return nil }
            var digits = number.drop { $0 == 0 }
            // A set highest bit would mean a negative number.
            if let first = digits.first, first >= 0x80 { digits = [0] + digits }
            body += [0x02, UInt8(digits.count)] + digits
        }
        return [0x30, UInt8(body.count)] + body
    }

    /// n, the number of points of P-256 (FIPS 186-4 §D.1.2.3), big-endian.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
        0x25, 0x51,
    ]
}
