/// Where a client finds a server: the parts of a `ws`, `wss`, `http` or `https` URL.
package struct ServerAddress: Equatable, Sendable, CustomStringConvertible {
    /// Whether the connection is under TLS.
    package var isSecure: Bool
    /// A name or an address, an IPv6 one without its brackets.
    package var host: String
    package var port: Int
    /// Begins with a slash; with the query, if there is one.
    package var path: String

    package init(isSecure: Bool = false, host: String, port: Int, path: String = "/") {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path.hasPrefix("/") ? path : "/" + path
    }

    /// Reads a URL. Nil unless it has one of the four schemes, a host, and a port that is a number
    /// between 1 and 65535 or left out.
    package init?(url: String) {
        guard let schemeEnd = url.firstRange(of: "://") else { return nil }
        switch url[..<schemeEnd.lowerBound].lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: return nil
        }
        let rest = url[schemeEnd.upperBound...]
        let pathStart = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let path = rest[pathStart...].prefix { $0 != "#" }
        self.path = path.hasPrefix("/") ? String(path) : "/" + path

        var authority = rest[..<pathStart]
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = String(authority[authority.index(after: authority.startIndex)..<end])
            authority = authority[authority.index(after: end)...]
        } else {
            let end = authority.firstIndex(of: ":") ?? authority.endIndex
            host = String(authority[..<end])
            authority = authority[end...]
        }
        if host.isEmpty { return nil }
        if authority.isEmpty {
            port = isSecure ? 443 : 80
        } else {
            let digits = authority.dropFirst()
            guard authority.first == ":", digits.allSatisfy({ $0.isASCII && $0.isNumber }),
                let number = Int(digits), (1...0xFFFF).contains(number)
            else { return nil }
            port = number
        }
    }

    /// What goes into the Host field.
    var hostField: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    package var description: String {
        "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
