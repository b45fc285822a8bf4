import CLibwebsockets
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bytes that one read from a socket may bring.
let serviceBufferBytes: UInt32 = 65_536

/// The largest number of descriptors the library shall make tables for, 16 bytes each.
let descriptorTableLimit: rlim_t = 1_048_576

private let libraryPatienceSeconds: UInt32 = 86_400

/// A context on `eventLoop`, without a vhost yet, and how many descriptors it has a table for; nil when the library
/// refuses.
func makeContext(
    on eventLoop: OpaquePointer, user: UnsafeMutableRawPointer
) -> (OpaquePointer, tableSize: Int)? {
    var info = lws_context_creation_info()
    info.options = UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_LIBEV)
    info.user = user
    // Stay who we are: -1, which is signed in the library's 4.1 and unsigned since 4.2.
    info.gid = .init(truncatingIfNeeded: -1)
    info.uid = .init(truncatingIfNeeded: -1)
    info.pt_serv_buf_size = serviceBufferBytes
    // Our own timers handle every deadline; the library must not be the first to lose patience.
    info.timeout_secs = libraryPatienceSeconds
    var loops: UnsafeMutableRawPointer? = UnsafeMutableRawPointer(eventLoop)
    return withUnsafeMutablePointer(to: &loops) { loops in
        info.foreign_loops = loops
        // Unsafe in name only: it is written before withLock returns, on this thread.
        nonisolated(unsafe) var context: OpaquePointer?
        nonisolated(unsafe) var tableSize = 0
        contextCreation.withLock { keeper in
            if keeper == nil { keeper = KeeperOfTLS() }
            context = withBoundedDescriptorTable {
                tableSize = $0
                return lws_create_context(&info)
            }
        }
        return context.map { ($0, tableSize) }
    }
}

/// Making a context changes things of the whole process, so it is done by one thread at a time. The value is
/// the context that keeps TLS in order for the others; nil before the first of them is made.
///
/// It is never destroyed. With the last context that was asked to initialize OpenSSL, newer versions of the library
/// (4.5.8, 5.0) shut OpenSSL down for the whole process, digests and all. And whenever another context asks
/// for it, the library forgets the number under which it keeps the data of TLS connections, so that
/// handshakes in progress on other loops fail.
private let contextCreation = Lock<KeeperOfTLS?>(nil)

private struct KeeperOfTLS: @unchecked Sendable {
    // Unchecked: it is never touched.
    let context: OpaquePointer

    init?() {
        var info = lws_context_creation_info()
        info.options = UInt64(
            LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        info.gid = .init(truncatingIfNeeded: -1)
        info.uid = .init(truncatingIfNeeded: -1)
        info.fd_limit_per_thread = 8
        guard let context = lws_create_context(&info) else { return nil }
        self.context = context
    }
}

/// A vhost that does not listen, under which clients connect; nil when the library refuses.
func makeClientVhost(in context: OpaquePointer) -> OpaquePointer? {
    var info = lws_context_creation_info()
    info.port = CONTEXT_PORT_NO_LISTEN
    info.protocols = ProtocolTable.shared.entries
    info.retry_and_idle_policy = idlePolicy
    info.connect_timeout_secs = libraryPatienceSeconds
    return "client".withCString { name in
        info.vhost_name = name
        return lws_create_vhost(context, &info)
    }
}

/// The library makes tables for as many descriptors as the process may have, and containers allow
/// a thousand million. Its own way to limit that makes every event search a list, so the process
/// limit is lowered for the moment in which the library looks at it.
///
/// - Parameter body: gets the size of the table that the library will make.
private func withBoundedDescriptorTable<Value>(_ body: (Int) -> Value) -> Value {
    var limit = rlimit()
    guard getrlimit(descriptorResource, &limit) == 0 else { return body(.max) }
    guard limit.rlim_cur > descriptorTableLimit else { return body(Int(limit.rlim_cur)) }
    var lowered = limit
    lowered.rlim_cur = descriptorTableLimit
    setrlimit(descriptorResource, &lowered)
    defer { setrlimit(descriptorResource, &limit) }
    return body(Int(descriptorTableLimit))
}

/// The library's table of protocols: one, served by one callback.
///
/// The library keeps pointers into it, so it is never freed.
struct ProtocolTable: @unchecked Sendable {
    // Unchecked: it is not written to after it was made.
    static let name = "raw"
    static let shared = ProtocolTable()

    let entries: UnsafePointer<lws_protocols>

    private init() {
        // The entry after it is all zeros, which ends the table.
        let entries = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
        entries.initialize(repeating: lws_protocols(), count: 2)
        entries[0].name = UnsafePointer(strdup(Self.name))
        entries[0].callback = libwebsocketsCallback
        self.entries = UnsafePointer(entries)
    }
}

/// All zeros: the library's own idle checks are off. They keep a sorted list of all connections
/// and walk it at every message; `Peer.sweep` does their work once a second.
private func makeIdlePolicy() -> UnsafePointer<lws_retry_bo_t> {
    let policy = UnsafeMutablePointer<lws_retry_bo_t>.allocate(capacity: 1)
    policy.initialize(to: lws_retry_bo_t())
    return UnsafePointer(policy)
}

// Never freed: contexts point to it. Unsafe only in name, as it is never written to.
nonisolated(unsafe) let idlePolicy = makeIdlePolicy()
