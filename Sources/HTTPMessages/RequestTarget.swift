/// What the request line asks for. RFC 9112 §3.2.
struct RequestTarget: Equatable {
    /// Percent-decoded; `*` for a question about the server as a whole.
    var path: String
    var query: [HTTPRequest.QueryItem] = []
    /// Of a whole URL, as proxies get it: what counts instead of the Host field. RFC 9112 §3.2.2.
    var authority: String?

    init(_ bytes: ArraySlice<UInt8>, method: String) throws(BadRequest) {
        // What is visible and no URL (`{`, `|`, `"`) is let through, as it can't change where the request ends.
        // A fragment is for the client alone.
        guard bytes.allSatisfy({ $0.isVisible && $0 != UInt8(ascii: "#") }) else {
            throw BadRequest(text: "The target has a character that is not allowed.")
        }
        if bytes.elementsEqual("*".utf8) {
            guard method == "OPTIONS" else {
                throw BadRequest(text: "Only OPTIONS may have the target *.")
            }
            path = "*"
            return
        }
        var rest = bytes
        if rest.first != UInt8(ascii: "/") {
            let authorityBytes = try Self.takeAuthority(&rest)
            authority = String(decoding: authorityBytes, as: UTF8.self)
        }
        let pathEnd = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = pathEnd == rest.startIndex ? "/" : Self.percentDecoded(rest[..<pathEnd])
        query = rest[pathEnd...].dropFirst().split(separator: UInt8(ascii: "&")).map { item in
            let nameEnd = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return HTTPRequest.QueryItem(
                name: Self.percentDecoded(item[..<nameEnd], plusIsBlank: true),
                value: Self.percentDecoded(item[nameEnd...].dropFirst(), plusIsBlank: true),
                isWellFormed: Self.isWellFormed(item))
        }
    }

    /// Whether every percent sign stands before two digits, and the bytes are UTF-8. RFC 3986 §2.1, §2.5.
    private static func isWellFormed(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let sign = rest.firstIndex(of: UInt8(ascii: "%")) {
            rest = rest[(sign + 1)...]
            guard rest.count >= 2, rest.prefix(2).allSatisfy({ $0.hexValue != nil }) else {
                return false
            }
        }
        return String(validating: percentBytes(bytes, plusIsBlank: true), as: UTF8.self) != nil
    }

    /// Takes scheme and authority off the front of a URL. RFC 9110 §4.2.
    private static func takeAuthority(
        _ rest: inout ArraySlice<UInt8>
    ) throws(BadRequest) -> ArraySlice<UInt8> {
        guard let schemeEnd = rest.firstRange(of: Array("://".utf8)),
            rest[..<schemeEnd.lowerBound].isEqualWithoutCase(to: "http")
                || rest[..<schemeEnd.lowerBound].isEqualWithoutCase(to: "https")
        else { throw BadRequest(text: "The target is neither a path nor an http URL.") }
        rest = rest[schemeEnd.upperBound...]
        let end =
            rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        defer { rest = rest[end...] }
        let authority = rest[..<end]
        // RFC 9110 §4.2.1: without a host it is invalid. §4.2.4: names and passwords are an error here.
        guard isAuthority(authority), authority.first != UInt8(ascii: ":"), !authority.isEmpty
        else {
            throw BadRequest(text: "The target's host is not valid.")
        }
        return authority
    }

    /// Whether it is what a Host field may say: a name or an address, and maybe a port. RFC 9110 §7.2,
    /// RFC 3986 §3.2.
    static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[(rest.startIndex + 1)..<end]
            guard !address.isEmpty,
                address.allSatisfy({ $0.isHostNameByte || $0 == UInt8(ascii: ":") })
            else { return false }
            rest = rest[(end + 1)...]
        } else {
            while let byte = rest.first, byte != UInt8(ascii: ":") {
                if byte == UInt8(ascii: "%") {
                    guard rest.count >= 3,
                        rest.dropFirst().prefix(2).allSatisfy({ $0.hexValue != nil })
                    else { return false }
                    rest = rest.dropFirst(3)
                } else if byte.isHostNameByte {
                    rest = rest.dropFirst()
                } else {
                    return false
                }
            }
        }
        guard let colon = rest.popFirst() else { return true }
        return colon == UInt8(ascii: ":") && rest.allSatisfy(\.isDigit)
    }

    private static func percentDecoded(
        _ bytes: ArraySlice<UInt8>, plusIsBlank: Bool = false
    ) -> String {
        String(decoding: percentBytes(bytes, plusIsBlank: plusIsBlank), as: UTF8.self)
    }

    private static func percentBytes(
        _ bytes: ArraySlice<UInt8>, plusIsBlank: Bool
    ) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
                let high = bytes[index + 1].hexValue, let low = bytes[index + 2].hexValue
            {
                decoded.append(high << 4 | low)
                index += 3
                continue
            }
            decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            index += 1
        }
        return decoded
    }
}

extension String {
    /// The text as part of a query: what is not unreserved is percent-encoded. RFC 3986 §2.1, §2.3.
    package var percentEncoded: String {
        var encoded: [UInt8] = []
        for byte in utf8 {
            if byte.isUnreserved {
                encoded.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension UInt8 {
    /// RFC 3986 §2.3.
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
