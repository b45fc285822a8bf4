import Digests
import HTTPMessages

/// The explorer: one HTML file that the server brings, with nothing from anywhere else (docs/http.md).
struct ExplorerPage: Sendable {
    static let path = "/"
    static let methods = "GET, HEAD"

    private let bytes: [UInt8]
    private let headers: HTTPHeaders
    private let tag: String

    init() {
        bytes = Self.html.withUTF8Buffer { Array($0) }
        tag = "\"\(Self.hash(bytes[...]).prefix(16).hexadecimal)\""
        headers = [
            "content-type": "text/html; charset=utf-8",
            "content-security-policy": Self.policy(for: bytes),
            "x-frame-options": "DENY",
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            // Another version of the server brings another page.
            "cache-control": "no-cache",
            "etag": tag,
            // At the path of GraphQL there is something else for programs.
            "vary": "accept",
        ]
    }

    /// Whether a request to the path of GraphQL is that of a browser that wants to show something.
    static func isWanted(by request: HTTPRequest) -> Bool {
        ["GET", "HEAD"].contains(request.method) && request.query.isEmpty
            && request.headers.prefers("text/html", to: "application/json")
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        // RFC 9110 §13.1.2; a proxy may have made it weak.
        let known = request.headers.list(in: "if-none-match")
        if known.contains(where: { $0 == tag || $0 == "W/\(tag)" || $0 == "*" }) {
            return HTTPResponse(status: 304, headers: headers)
        }
        return HTTPResponse(status: 200, headers: headers, body: bytes)
    }

    // MARK: Content-Security-Policy

    /// Runs the page's own script with its own style, and lets it ask its own server.
    private static func policy(for page: [UInt8]) -> String {
        """
        default-src 'none'; script-src \(sources("script", in: page)); \
        style-src \(sources("style", in: page)); connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """
    }

    /// The hash of what stands in an element.
    private static func sources(_ element: String, in page: [UInt8]) -> String {
        guard let start = page.firstRange(of: Array("<\(element)>".utf8))?.upperBound,
            let end = page[start...].firstRange(of: Array("</\(element)>".utf8))?.lowerBound
        else { return "'none'" }
        return "'sha256-\(hash(page[start..<end]).base64)'"
    }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let hash = SHA256()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }
}
