import CLibwebsockets

extension ByteStream {
    /// Begins to connect to `address`; its owner is told how it went, possibly before this returns.
    ///
    /// - Parameter timeout: how long its owner waits. Of a host's addresses each has its part of it.
    /// - Throws: `badCredentials`, and then the owner gets no calls.
    static func connect(
        to address: ServerAddress, authorityFile: String?, timeout: Duration = .seconds(10),
        owner: any ByteStreamOwner, core: LoopCore
    ) throws(IOError) -> ByteStream {
        guard address.isSecure else {
            return LibraryStream.connect(to: address, timeout: timeout, owner: owner, core: core)
        }
        let context = try core.clientTLS.context(authorityFile: authorityFile, for: address)
        guard let stream = TLSClientStream(core: core, context: context, address: address) else {
            throw cannotConnect(address, "there is no memory left")
        }
        stream.owner = owner
        stream.connect(timeout: timeout)
        return stream
    }

    private static func cannotConnect(_ address: ServerAddress, _ cause: String) -> IOError {
        IOError(
            code: .cannotConnect,
            message: "Could not connect to \(address): \(cause). Nothing was sent.")
    }
}
