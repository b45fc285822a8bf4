import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whom a loop's clients trust: one OpenSSL context for each authority file.
final class ClientTLS {
    private var contexts: [String?: OpaquePointer] = [:]

    deinit {
        for context in contexts.values { SSL_CTX_free(context) }
    }

    /// - Parameter authorityFile: certificates in PEM that servers are checked against; nil means the system's.
    /// - Throws: `badCredentials`.
    func context(
        authorityFile: String?, for address: ServerAddress
    ) throws(IOError) -> OpaquePointer {
        if let context = contexts[authorityFile] { return context }
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw IOError(
                code: .cannotConnect,
                message:
                    "Could not connect to \(address): OpenSSL is not available. Nothing was sent.")
        }
        let isLoaded =
            authorityFile.map { SSL_CTX_load_verify_locations(context, $0, nil) == 1 }
            ?? (SSL_CTX_set_default_verify_paths(context) == 1)
        guard isLoaded else {
            SSL_CTX_free(context)
            throw IOError(
                code: .badCredentials,
                message: "Could not connect to \(address): the certificates in "
                    + "\(authorityFile ?? "the system's store") cannot be read. Nothing was sent.")
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        clws_set_least_version(context)
        clws_set_modes(context)
        contexts[authorityFile] = context
        return context
    }
}
