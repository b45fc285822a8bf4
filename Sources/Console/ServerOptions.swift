package import ArgumentParser
package import WebSocketIO

/// How a client command gets to its server.
package struct ServerOptions: ParsableArguments {
    @Option(help: "The token to authenticate with. (default: RELAY_TOKEN)")
    package var token: String?

    @Option(
        help: ArgumentHelp(
            "Certificates to verify the server of a wss:// address with, as PEM.",
            valueName: "file"))
    package var ca: String?

    package init() {}

    package var resolvedToken: String? { token ?? environmentValue("RELAY_TOKEN") }
}

extension ServerAddress {
    /// Reads a URL that the user gave.
    package init(argument url: String) throws(ValidationError) {
        guard let address = ServerAddress(url: url) else {
            throw ValidationError(
                "\"\(url)\" is not the address of a server; write ws://HOST:PORT/graphql.")
        }
        self = address
    }
}
