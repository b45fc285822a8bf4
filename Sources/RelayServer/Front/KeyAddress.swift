import WebSocketIO

/// The URL of a JWK Set, such that nobody on the way can put other keys in its place.
package struct KeyAddress: Sendable {
    let url: String
    let server: ServerAddress

    /// - Throws: if it is no such URL; what is said does not contain it.
    package init(_ url: String) throws(KeyAddressError) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme), let server = ServerAddress(url: url),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw KeyAddressError(
                description: "it is neither a file nor a URL such as https://HOST/jwks.json")
        }
        guard !server.host.contains("@"), !url.prefix(while: { $0 != "?" }).contains("@") else {
            throw KeyAddressError(
                description: "its URL has a name or a password, and keys are fetched without")
        }
        guard server.isSecure || HostPolicy.isLoopback(server.host.lowercased()) else {
            throw KeyAddressError(
                description: """
                    over http:// the keys could be replaced on the way; use https://, or a file \
                    (http:// is for this machine itself)
                    """)
        }
        self.url = url
        self.server = server
    }
}

/// Why keys are not fetched from a URL: half a sentence, without the URL, which may hold a secret.
package struct KeyAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}
