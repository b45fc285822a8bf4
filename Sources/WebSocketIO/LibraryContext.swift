import CLibwebsockets
import Threads

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Bytes that one read from a socket may bring.
let serviceBufferBytes: UInt32 = 65_536

/// The largest number of descriptors the library shall make tables for, 16 bytes each.
private let descriptorTableLimit: rlim_t = 1_048_576

/// A context on `eventLoop`, without a vhost yet; nil when the library refuses.
func makeContext(
    on eventLoop: OpaquePointer, user: UnsafeMutableRawPointer
) -> OpaquePointer? {
    var info = lws_context_creation_info()
    info.options = UInt64(
        LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_LIBEV
            | LWS_SERVER_OPTION_VALIDATE_UTF8)
    info.user = user
    // Stay who we are: -1, which is signed in the library's 4.1 and unsigned since 4.2.
    info.gid = .init(truncatingIfNeeded: -1)
    info.uid = .init(truncatingIfNeeded: -1)
    info.pt_serv_buf_size = serviceBufferBytes
    // Twice the largest head that our own parser lets through, and the most that the library allows: 4.3 keeps the
    // number in 16 bits, 5.0 caps it here.
    info.max_http_header_data2 = 32_768
    // How long a server may take to answer a handshake or a request. The options of a connection say
    // that, and timers of ours see to it; the library must not be the first to lose patience.
    info.timeout_secs = 86_400
    var loops: UnsafeMutableRawPointer? = UnsafeMutableRawPointer(eventLoop)
    return withUnsafeMutablePointer(to: &loops) { loops in
        info.foreign_loops = loops
        // Unsafe in name only: it is written before withLock returns, on this thread.
        nonisolated(unsafe) var context: OpaquePointer?
        contextCreation.withLock { hasInitializedTLS in
            if !hasInitializedTLS {
                info.options |= UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
            }
            context = withBoundedDescriptorTable { lws_create_context(&info) }
            if context != nil { hasInitializedTLS = true }
        }
        return context
    }
}

/// Making a context changes things of the whole process, so it is done by one thread at a time. The value is
/// whether the library has been told to get TLS ready. Once is enough, and more does harm: each time it forgets
/// under which number it has kept what belongs to TLS connections, and every handshake under way on other loops
/// fails.
private let contextCreation = Lock(false)

/// A vhost that does not listen, under which clients connect; nil when the library refuses.
///
/// - Parameter authorityFile: certificates in PEM that servers are checked against; nil means the
///   system's.
func makeClientVhost(
    in context: OpaquePointer, table: ProtocolTable, authorityFile: String?
) -> OpaquePointer? {
    var info = lws_context_creation_info()
    info.port = CONTEXT_PORT_NO_LISTEN
    info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
    info.protocols = UnsafePointer(table.entries)
    info.retry_and_idle_policy = idlePolicy
    return "client".withCString { name in
        info.vhost_name = name
        guard let authorityFile else { return lws_create_vhost(context, &info) }
        return authorityFile.withCString { file in
            info.client_ssl_ca_filepath = file
            return lws_create_vhost(context, &info)
        }
    }
}

/// The library makes tables for as many descriptors as the process may have, and containers allow
/// a thousand million. Its own way to limit that makes every event search a list, so the process
/// limit is lowered for the moment in which the library looks at it.
private func withBoundedDescriptorTable<Value>(_ body: () -> Value) -> Value {
    var limit = rlimit()
    guard getrlimit(descriptorResource, &limit) == 0, limit.rlim_cur > descriptorTableLimit else {
        return body()
    }
    var lowered = limit
    lowered.rlim_cur = descriptorTableLimit
    setrlimit(descriptorResource, &lowered)
    defer { setrlimit(descriptorResource, &limit) }
    return body()
}

/// The library's table of protocols, all served by one callback.
///
/// The library keeps pointers into it, so it lives as long as the context.
final class ProtocolTable {
    /// What connections belong to that name no protocol. A blank is in no subprotocol's name, so
    /// nobody can ask for it.
    static let unnamed = "no subprotocol"

    let entries: UnsafeMutablePointer<lws_protocols>
    private let count: Int

    init(subprotocols: [String] = []) {
        let names = [Self.unnamed] + subprotocols
        count = names.count + 1
        entries = .allocate(capacity: count)
        // The entry after the last is all zeros, which ends the table.
        entries.initialize(repeating: lws_protocols(), count: count)
        for (index, name) in names.enumerated() {
            entries[index].name = UnsafePointer(strdup(name))
            entries[index].callback = libwebsocketsCallback
            entries[index].rx_buffer_size = 4_096
        }
    }

    deinit {
        for index in 0..<count - 1 { free(UnsafeMutableRawPointer(mutating: entries[index].name)) }
        entries.deinitialize(count: count)
        entries.deallocate()
    }
}

/// All zeros: the library's own idle checks are off. They keep a sorted list of all connections
/// and walk it at every message; `Endpoint.sweep` does their work once a second.
private func makeIdlePolicy() -> UnsafePointer<lws_retry_bo_t> {
    let policy = UnsafeMutablePointer<lws_retry_bo_t>.allocate(capacity: 1)
    policy.initialize(to: lws_retry_bo_t())
    return UnsafePointer(policy)
}

// Never freed: contexts point to it. Unsafe only in name, as nobody writes to it.
nonisolated(unsafe) let idlePolicy = makeIdlePolicy()
