import HTTPMessages

/// By which names clients may call a server that asks for no token.
///
/// A hostile page can give its own name this server's address, and then asks it as if it were the page's own (DNS
/// rebinding). The `Host` field tells: it has the page's name.
struct HostPolicy: Sendable {
    private enum Names {
        case any
        /// This machine's, and those that are listed.
        case ofThisMachine
        /// Also those that nobody can register: addresses, names without a dot, names for private use.
        case ofThisNetwork
    }

    private let names: Names
    private let listed: Set<String>

    /// Whether every client has to be called by such a name, or only those without a token.
    private let concernsAll: Bool

    /// Where clients show tokens, names matter to those who show none. Any name will do where `*` is listed.
    init(
        for authentication: Authentication, listeningOn host: String, allowing names: [String]
    ) {
        listed = Set(names.map { $0.lowercased() })
        concernsAll = authentication.isOpen
        if listed.contains("*") {
            self.names = .any
        } else {
            self.names = Self.isLoopback(host) ? .ofThisMachine : .ofThisNetwork
        }
    }

    /// Why a server without authentication should not listen on an address; nil if it may.
    static func objection(toListeningOn host: String) -> String? {
        if isLoopback(host) { return nil }
        return """
            everybody who reaches \(host) could see and change everything. Use --token, --token-for or \
            --jwt-keys, or --open if that is wanted
            """
    }

    static let refusal = """
        This server asks for no token, and knows no such host; --allow-host allows other names.
        """

    func admits(_ request: HTTPRequest) -> Bool {
        !concernsAll || admitsWithoutToken(request)
    }

    /// Whether somebody may ask who shows no token: a page that has rebound its name has none.
    func admitsWithoutToken(_ request: HTTPRequest) -> Bool {
        if case .any = names { return true }
        // Only HTTP/1.0 may do without; browsers never do.
        guard let host = request.headers["host"] else { return true }
        let name = Self.name(in: host[...])
        if Self.isLoopback(name) || listed.contains(name) { return true }
        guard case .ofThisNetwork = names else { return false }
        return Self.isAddress(name) || Self.isPrivate(name)
    }

    /// The name or address in `host:port`, in lower case and without brackets.
    private static func name(in authority: Substring) -> String {
        if authority.first == "[" {
            return authority.dropFirst().prefix { $0 != "]" }.lowercased()
        }
        return authority.prefix { $0 != ":" }.lowercased()
    }

    /// Whether a name or an address is that of the machine itself.
    static func isLoopback(_ name: String) -> Bool {
        name == "localhost" || name == "::1" || (isIPv4(name) && name.hasPrefix("127."))
    }

    /// No name has a colon.
    private static func isAddress(_ name: String) -> Bool { name.contains(":") || isIPv4(name) }

    private static func isIPv4(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.utf8.allSatisfy { (48...57).contains($0) }
                    && UInt8(part) != nil
            }
    }

    /// Whether nobody can register a name: one label, or under a domain for private use (RFC 6761, 6762, 8375, and
    /// ICANN's `internal`).
    private static func isPrivate(_ name: String) -> Bool {
        guard !name.isEmpty else { return false }
        let domains = [".localhost", ".local", ".internal", ".test", ".home.arpa"]
        return !name.contains(".") || domains.contains { name.hasSuffix($0) }
    }
}
