import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The most that a request's line and header fields may have together, in bytes. Beyond it the
/// library closes the connection without an answer.
let maxRequestHeadBytes = 16_384

/// Reads a request's line and fields out of the library's tables, which last only as long as the
/// callback.
struct RequestHeadReader {
    let wsi: OpaquePointer

    private static let methods: [(token: lws_token_indexes, name: String)] = [
        (WSI_TOKEN_GET_URI, "GET"), (WSI_TOKEN_POST_URI, "POST"),
        (WSI_TOKEN_OPTIONS_URI, "OPTIONS"), (WSI_TOKEN_HEAD_URI, "HEAD"),
        (WSI_TOKEN_PUT_URI, "PUT"), (WSI_TOKEN_PATCH_URI, "PATCH"),
        (WSI_TOKEN_DELETE_URI, "DELETE"),
    ]

    /// The header fields that the library has a token for, with their names.
    private static let knownHeaders: [(token: lws_token_indexes, name: String)] =
        (0..<_WSI_TOKEN_CLIENT_SENT_PROTOCOLS.rawValue).compactMap { raw in
            let token = lws_token_indexes(rawValue: raw)
            guard let text = lws_token_to_string(token) else { return nil }
            let name = String(
                decoding: UnsafeRawBufferPointer(start: text, count: strlen(text)), as: UTF8.self)
            // Others are methods and HTTP/2's pseudo fields.
            guard name.hasSuffix(":"), !name.hasPrefix(":") else { return nil }
            return (token, String(name.dropLast()))
        }

    /// Whether the header table is still there; the library drops it with some refusals of its own.
    var isPresent: Bool {
        Self.methods.contains { lws_hdr_total_length(wsi, $0.token) > 0 }
    }

    var method: String? {
        Self.methods.first { lws_hdr_total_length(wsi, $0.token) > 0 }?.name
    }

    var isHTTP11: Bool { text(of: WSI_TOKEN_HTTP) == "HTTP/1.1" }

    /// The request without its body; nil if its method is none of those we know.
    func request(
        extraHeaderNames: [String], peerAddress: String, isSecure: Bool
    ) -> HTTPRequest? {
        guard let method = Self.methods.first(where: { lws_hdr_total_length(wsi, $0.token) > 0 })
        else { return nil }
        return HTTPRequest(
            method: method.name, path: text(of: method.token) ?? "/", query: query,
            headers: headers(extra: extraHeaderNames), body: [], peerAddress: peerAddress,
            isSecure: isSecure)
    }

    private func headers(extra: [String]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (token, name) in Self.knownHeaders {
            if let value = text(of: token) { headers.append(name, value) }
        }
        for name in extra where headers[name] == nil {
            if let value = text(ofUnknown: name.lowercased() + ":") { headers.append(name, value) }
        }
        return headers
    }

    private var query: [HTTPRequest.QueryItem] {
        var items: [HTTPRequest.QueryItem] = []
        var index: Int32 = 0
        // The library has split and decoded them: one fragment is `name=value`.
        while let fragment = queryFragment(index) {
            let parts = fragment.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let name = parts.first, !fragment.isEmpty {
                items.append(
                    HTTPRequest.QueryItem(
                        name: String(name), value: parts.count > 1 ? String(parts[1]) : ""))
            }
            index += 1
        }
        return items
    }

    private func queryFragment(_ index: Int32) -> String? {
        let length = Int(lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, index))
        guard length > 0 else { return nil }
        return copied(length) { buffer, capacity in
            lws_hdr_copy_fragment(wsi, buffer, capacity, WSI_TOKEN_HTTP_URI_ARGS, index)
        }
    }

    /// A field's value, nil if it is absent. Several fields of one name are joined by commas.
    private func text(of token: lws_token_indexes) -> String? {
        let length = Int(lws_hdr_total_length(wsi, token))
        guard length > 0 else { return nil }
        return copied(length) { lws_hdr_copy(wsi, $0, $1, token) }
    }

    private func text(ofUnknown name: String) -> String? {
        let length = Int(lws_hdr_custom_length(wsi, name, Int32(name.utf8.count)))
        guard length >= 0 else { return nil }
        return copied(length) {
            lws_hdr_custom_copy(wsi, $0, $1, name, Int32(name.utf8.count))
        }
    }

    /// - Parameter copy: fills a buffer of so many bytes and returns how many it wrote, or less
    ///   than zero.
    private func copied(
        _ length: Int, _ copy: (UnsafeMutablePointer<CChar>, Int32) -> Int32
    ) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + 2) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let written = Int(copy(start, Int32(buffer.count)))
            guard written >= 0, written < buffer.count else { return nil }
            return String(
                decoding: UnsafeRawBufferPointer(start: start, count: written), as: UTF8.self)
        }
    }
}
