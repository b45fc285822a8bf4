import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads the header fields of a server's answer out of the library's tables, which last only as
/// long as the callback.
struct AnswerHeadReader {
    let wsi: OpaquePointer

    /// The header fields that the library has a token for, with their names.
    private static let known: [(token: lws_token_indexes, name: String)] =
        (0..<_WSI_TOKEN_CLIENT_SENT_PROTOCOLS.rawValue).compactMap { raw in
            let token = lws_token_indexes(rawValue: raw)
            guard let text = lws_token_to_string(token) else { return nil }
            let name = String(
                decoding: UnsafeRawBufferPointer(start: text, count: strlen(text)), as: UTF8.self)
            // Others are methods and HTTP/2's pseudo fields.
            guard name.hasSuffix(":"), !name.hasPrefix(":") else { return nil }
            return (token, String(name.dropLast()))
        }

    var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for (token, name) in Self.known {
            if let value = value(of: token) { headers.append(name, value) }
        }
        return headers
    }

    /// Nil if the field is absent.
    func value(of token: lws_token_indexes) -> String? {
        let length = Int(lws_hdr_total_length(wsi, token))
        guard length > 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + 2) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let written = Int(lws_hdr_copy(wsi, start, Int32(buffer.count), token))
            guard written >= 0, written < buffer.count else { return nil }
            return String(
                decoding: UnsafeRawBufferPointer(start: start, count: written), as: UTF8.self)
        }
    }
}
