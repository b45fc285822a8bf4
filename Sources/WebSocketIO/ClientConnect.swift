import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the library needs to know of a connection to make.
struct ClientConnect {
    var address: ServerAddress
    /// Nil asks for a WebSocket connection.
    var method: String?
    var subprotocols: [String] = []
    var authorityFile: String?

    /// Begins to connect. The endpoint hears how it went; when this returns false, it hears nothing
    /// any more.
    func begin(for endpoint: Endpoint) throws(IOError) -> Bool {
        let core = endpoint.core
        let vhost = try core.clientVhost(authorityFile: authorityFile, for: address)
        var info = lws_client_connect_info()
        info.context = core.context
        info.vhost = vhost
        info.port = Int32(address.port)
        info.ssl_connection = Int32(LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue)
        if address.isSecure { info.ssl_connection |= Int32(LCCSCF_USE_SSL.rawValue) }
        info.retry_and_idle_policy = idlePolicy
        info.opaque_user_data = endpoint.opaque

        // The library copies the strings before the call returns.
        var strings: [UnsafeMutablePointer<CChar>?] = []
        defer { for string in strings { free(string) } }
        func kept(_ text: String) -> UnsafePointer<CChar>? {
            let copy = strdup(text)
            strings.append(copy)
            return UnsafePointer(copy)
        }
        info.address = kept(address.host)
        info.host = kept(address.hostField)
        info.path = kept(address.path)
        info.local_protocol_name = kept(ProtocolTable.unnamed)
        info.alpn = kept("http/1.1")
        if let method { info.method = kept(method) }
        if !subprotocols.isEmpty { info.protocol = kept(subprotocols.joined(separator: ",")) }
        guard let wsi = lws_client_connect_via_info(&info) else { return false }
        endpoint.wsi = wsi
        core.serviceLibraryTimers()
        return true
    }

    /// Adds header fields in the callback that asks for them, whose room they must fit in.
    ///
    /// - Parameter data: points to where the next field goes.
    static func append(
        _ headers: HTTPHeaders, at data: UnsafeMutableRawPointer?, room: Int
    ) -> Bool {
        guard let data else { return false }
        var bytes: [UInt8] = []
        headers.encode(into: &bytes)
        guard bytes.count < room else { return false }
        let place = data.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>.self)
        for byte in bytes {
            place.pointee.pointee = byte
            place.pointee += 1
        }
        return true
    }
}

extension ServerAddress {
    /// Why a connection to it could not be made.
    /// - Parameter words: the library's.
    func cause(_ words: UnsafeRawBufferPointer) -> String {
        let words = String(decoding: words, as: UTF8.self)
        guard isSecure, words.contains("SSL") || words.contains("tls") else { return words }
        // OpenSSL's words, which say little; nearly always it is this.
        return """
            the TLS handshake failed; the server's certificate must name its host, and come from an \
            authority that is trusted here (\(words))
            """
    }
}

extension LoopCore {
    /// A vhost to connect under: one for each authority file.
    func clientVhost(
        authorityFile: String?, for address: ServerAddress
    ) throws(IOError) -> OpaquePointer {
        if let vhost = clientVhosts[authorityFile] { return vhost }
        let table = ProtocolTable()
        libraryTables.append(table)
        let isReadable = authorityFile.map { access($0, R_OK) == 0 } ?? true
        guard
            isReadable,
            let vhost = makeClientVhost(
                in: context, table: table, authorityFile: authorityFile)
        else {
            throw IOError(
                code: .badCredentials,
                message: "Could not connect to \(address): the certificates in "
                    + "\(authorityFile ?? "the system's store") cannot be read. Nothing was sent.")
        }
        clientVhosts[authorityFile] = vhost
        return vhost
    }
}
