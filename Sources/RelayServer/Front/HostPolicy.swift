import HTTPMessages

/// By which names clients may call a server that lets everybody in on its own machine.
///
/// A hostile page can give its own name the address 127.0.0.1, and then asks this server as if it were its own (DNS
/// rebinding). The `Host` field tells: it has the page's name.
struct HostPolicy: Sendable {
    /// nil: any name.
    private let allowed: Set<String>?

    /// Any name will do where clients show tokens; and where the whole network may ask, unless names are listed.
    init(
        for authentication: Authentication, listeningOn host: String, allowing names: [String]
    ) {
        let isChecked = authentication.isOpen && (Self.isLoopback(host) || !names.isEmpty)
        allowed = isChecked ? Set(names.map { $0.lowercased() }) : nil
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
        guard let allowed else { return true }
        // Only HTTP/1.0 may do without; browsers never do.
        guard let host = request.headers["host"] else { return true }
        let name = Self.name(in: host[...])
        return Self.isLoopback(name) || allowed.contains(name)
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
        if name == "localhost" || name == "::1" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.utf8.allSatisfy { (48...57).contains($0) }
                    && UInt8(part) != nil
            }
    }
}
