import HTTPMessages
import WebSocketIO

/// From which web pages browsers may use the server.
///
/// Other clients send no `Origin`, and are not concerned. With a list, pages of the listed origins may; all
/// others are refused WebSocket connections, and get no CORS headers, without which a browser keeps the
/// answers to itself. Without a list only pages that the server's own host serves may open WebSocket
/// connections, whatever their port, and there are no CORS headers.
package struct OriginPolicy: Sendable {
    private enum Rule {
        case sameHost
        case listed(Set<String>)
        case anyone
    }

    private let rule: Rule

    /// - Parameter origins: as browsers send them, such as `https://example.com`; `*` means all.
    init(allowing origins: [String] = []) {
        if origins.isEmpty {
            rule = .sameHost
        } else if origins.contains("*") {
            rule = .anyone
        } else {
            rule = .listed(Set(origins.map(Self.normalized)))
        }
    }

    /// Whether the text is an origin that a browser could send, or `*`.
    package static func isOrigin(_ text: String) -> Bool {
        if text == "*" || text == "null" { return true }
        guard let end = text.firstRange(of: "://") else { return false }
        let authority = text[end.upperBound...]
        return end.lowerBound > text.startIndex && !authority.isEmpty
            && !authority.contains { "/?#,@ ".contains($0) }
    }

    /// Whether a WebSocket connection may be opened. Browsers do not ask for permission here, but say
    /// which page it is (RFC 6455 §10.2).
    func admits(upgrade request: HTTPRequest) -> Bool {
        guard let origin = request.headers["origin"] else { return true }
        if case .sameHost = rule { return isSameHost(origin, request) }
        return isListed(origin)
    }

    /// What is added to every answer, so that a browser shows it to the page.
    func headers(for request: HTTPRequest) -> HTTPHeaders {
        switch rule {
        case .sameHost: return [:]
        case .anyone: return ["access-control-allow-origin": "*"]
        case .listed:
            guard let origin = request.headers["origin"], isListed(origin) else {
                return ["vary": "Origin"]
            }
            return ["access-control-allow-origin": origin, "vary": "Origin"]
        }
    }

    /// The answer to an OPTIONS request: what may be done here, and from where (Fetch §3.2.2).
    ///
    /// - Parameter methods: those of the resource.
    func answer(toOptions request: HTTPRequest, methods: String) -> HTTPResponse {
        var response = HTTPResponse(status: 204, headers: ["allow": methods])
        response.headers.append(headers(for: request))
        guard request.headers["access-control-request-method"] != nil else { return response }
        guard let origin = request.headers["origin"], isListed(origin) else {
            response.status = 403
            return response
        }
        response.headers.append("access-control-allow-methods", methods)
        // Whatever is asked for: none of our headers does more than identify the viewer.
        if let names = request.headers["access-control-request-headers"] {
            response.headers.append("access-control-allow-headers", names)
        }
        response.headers.append("access-control-max-age", "7200")
        return response
    }

    private func isListed(_ origin: String) -> Bool {
        switch rule {
        case .sameHost: false
        case .listed(let origins): origins.contains(Self.normalized(origin))
        case .anyone: true
        }
    }

    private func isSameHost(_ origin: String, _ request: HTTPRequest) -> Bool {
        guard let end = origin.firstRange(of: "://"), let host = request.headers["host"] else {
            return false
        }
        return Self.hostName(origin[end.upperBound...]) == Self.hostName(host[...])
    }

    /// The name or address in `host:port`, in lower case.
    private static func hostName(_ authority: Substring) -> String {
        if authority.first == "[" {
            return authority.prefix { $0 != "]" }.lowercased() + "]"
        }
        return authority.prefix { $0 != ":" }.lowercased()
    }

    /// Scheme and host do not depend on case; the port that a scheme has anyway is not said.
    private static func normalized(_ origin: String) -> String {
        let origin = origin.lowercased()
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")]
        where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
            return String(origin.dropLast(port.count))
        }
        return origin
    }
}
