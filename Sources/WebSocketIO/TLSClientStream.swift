import CLibwebsockets

/// TLS on a connection that we make.
///
/// The library's raw role can do TLS for accepted connections; of those that it makes, 4.1 tries the handshake before
/// there is a socket. So OpenSSL is asked directly here, over the library's connection: what it reads and writes goes
/// through memory.
final class TLSClientStream: ByteStream, ByteStreamOwner {
    private let address: ServerAddress
    private var inner: LibraryStream?
    /// Freed with us. It owns the two buffers.
    private let tls: OpaquePointer
    private let received: OpaquePointer
    private let toSend: OpaquePointer
    private var isEstablished = false
    private var isStepping = false

    /// Nil when there is no memory for it.
    init?(core: LoopCore, context: OpaquePointer, address: ServerAddress) {
        guard let tls = SSL_new(context) else { return nil }
        guard let received = BIO_new(BIO_s_mem()), let toSend = BIO_new(BIO_s_mem()) else {
            SSL_free(tls)
            return nil
        }
        SSL_set_bio(tls, received, toSend)
        self.tls = tls
        self.received = received
        self.toSend = toSend
        self.address = address
        super.init(core: core, isReading: true)
        // The certificate must be for this host, which is an address or a name.
        let parameters = SSL_get0_param(tls)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, address.host) != 1 {
            X509_VERIFY_PARAM_set1_host(parameters, address.host, address.host.utf8.count)
            // RFC 6066 §3: an address is not named.
            _ = clws_set_server_name(tls, address.host)
        }
        let applications = [UInt8(8)] + Array("http/1.1".utf8)
        SSL_set_alpn_protos(tls, applications, UInt32(applications.count))
        SSL_set_connect_state(tls)
    }

    deinit { SSL_free(tls) }

    func connect(timeout: Duration) {
        inner = LibraryStream.connect(to: address, timeout: timeout, owner: self, core: core)
        if isClosed { inner?.close() }
        // It may have been there, and the handshake begun, before the call returned.
        passOn()
    }

    // MARK: - The connection below

    func streamOpened() { step() }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        BIO_write(received, bytes.baseAddress, Int32(bytes.count))
        step()
    }

    func streamInputEnded() { lose("the connection broke off") }
    func streamLost(_ cause: String) { lose(cause) }

    func streamWritable() {
        passOn()
        continueWriting()
    }

    /// Does what can be done with what has come.
    private func step() {
        // What the owner does with a piece may lead back here.
        if isStepping { return }
        isStepping = true
        defer { isStepping = false }
        if !isEstablished, !shakeHands() { return }
        while !isClosed, isReading {
            let count = core.withReadBuffer { buffer in
                // The buffer of the connection below is done with: OpenSSL has copied what was in it.
                ERR_clear_error()
                let count = SSL_read(tls, buffer.baseAddress, Int32(buffer.count))
                if count > 0 {
                    owner?.streamReceived(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
                }
                return count
            }
            if count <= 0 {
                inputStopped(SSL_get_error(tls, count))
                break
            }
        }
        passOn()
    }

    /// Nothing more can be read: for now, since the peer has said so, or for ever.
    private func inputStopped(_ error: Int32) {
        switch error {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN:
            if isInputOver { return }
            isInputOver = true
            owner?.streamInputEnded()
        default: lose("the connection ended")
        }
    }

    /// Returns whether the handshake is complete.
    private func shakeHands() -> Bool {
        ERR_clear_error()
        let result = SSL_connect(tls)
        passOn()
        if result == 1 {
            isEstablished = true
            owner?.streamOpened()
            return !isClosed
        }
        if SSL_get_error(tls, result) != SSL_ERROR_WANT_READ {
            lose(failure())
        }
        return false
    }

    private func failure() -> String {
        let verified = SSL_get_verify_result(tls)
        if verified != Int(X509_V_OK), let text = X509_verify_cert_error_string(verified) {
            return """
                the TLS handshake failed: the server's certificate must name its host, and come from an \
                authority that is trusted here (\(String(cString: text)))
                """
        }
        let text = ERR_reason_error_string(ERR_get_error()).map { String(cString: $0) }
        return "the TLS handshake failed (\(text ?? "no reason given"))"
    }

    /// Hands what OpenSSL has to send to the connection below, as far as that takes it.
    private func passOn() {
        guard let inner else { return }
        while !isClosed, !inner.isClosed, !inner.isBlocked {
            var piece = [UInt8](repeating: 0, count: 16_384 + 512)
            let count = BIO_read(toSend, &piece, Int32(piece.count))
            if count <= 0 { return }
            piece.removeLast(piece.count - Int(count))
            if !inner.write(piece) { return lose("the connection broke off") }
        }
    }

    // MARK: - The stream

    override func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard isEstablished, let inner, !inner.isClosed else { return nil }
        ERR_clear_error()
        let count = SSL_write(tls, bytes.baseAddress, Int32(min(bytes.count, 16_384)))
        if count <= 0 { return nil }
        passOn()
        return isClosed ? nil : Int(count)
    }

    override var isFull: Bool { inner?.isBlocked ?? false }

    override func readingChanged() {
        guard isReading else {
            inner?.isReading = false
            return
        }
        // What has come already is handed on first, and only then what comes next, which may be the end. Not within the
        // call that lets it be read.
        core.schedule(at: monotonicMilliseconds()) { [weak self] in
            guard let self else { return }
            step()
            if isReading, !isClosed { inner?.isReading = true }
        }
    }

    override func finish() {
        ERR_clear_error()
        SSL_shutdown(tls)
        passOn()
        inner?.finish()
    }

    override func closeConnection() {
        inner?.close()
    }

    override var descriptor: Int32? { inner?.descriptor }
    override var sentBytes: Int { inner?.sentBytes ?? 0 }
}
