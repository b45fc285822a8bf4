import CLibwebsockets
@_spi(Rooms) import Threads

/// A connection on a loop that may have something to send.
protocol Flushable: AnyObject {
    /// Sends what waits, as far as the peer takes it.
    func flush()
}

/// The part of a loop that belongs to its thread: the library's context, and everything on it.
///
/// Work that comes in quantity is done in slices of a few milliseconds, between which the loop does everything else
/// that is due: what other threads post (a fan-out to thousands of connections), and sending.
///
/// Not Sendable: other threads get at it only through `IOLoop.performOnCore`.
final class LoopCore {
    let loop: IOLoop
    let resolver: HostResolver
    var context: OpaquePointer { onThread(libraryContext) }
    var eventLoop: OpaquePointer { onThread(libraryLoop) }
    // For `destroy` alone, which may come before there is a thread.
    private let libraryContext: OpaquePointer
    private let libraryLoop: OpaquePointer
    /// Descriptors from this number on have no place in the library's table.
    let descriptorTableSize: Int
    private var isStopping = false

    /// The connections that the library calls back for, by our own number.
    private var libraryStreams: [UInt64: LibraryStream] = [:]
    private var servers: [ServerState] = []
    /// The connections that we made.
    private var clients: [UInt64: any Peer] = [:]
    private var lastID: UInt64 = 0
    private(set) lazy var clientTLS = ClientTLS()
    private var clientVhost: OpaquePointer?

    private var callbackDepth = 0
    private var libraryDepth = 0
    /// What other threads have posted and has not been run, in their order. It has no bound of its own: what posts
    /// has one.
    private var mail = FIFO<Mailbox.Command>()
    /// The connections with something to send, in the order in which they got it. One that has been flushed
    /// meanwhile, for code that could not wait, has nothing to do.
    private var flushQueue = FIFO<any Flushable>()
    /// Whether the rest of the queue is sent at the loop's next turn.
    private var isFlushWaiting = false
    /// A slice ends with the action, or the connection, during which so much time has passed.
    static let sliceMilliseconds: Int64 = 4
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 65_536, alignment: 16)
    /// Where frames are put together; one for all connections.
    var writeBuffer: [UInt8] = []
    let deflatePool = DeflatePool()

    private var timers = TimerQueue()
    private let wakeup: LoopWakeup
    private var wakeupDeadline: Int64?
    private var isSweepScheduled = false

    init(loop: IOLoop, resolver: HostResolver) throws(IOError) {
        LibraryLog.install()
        guard let eventLoop = ev_loop_new(0) else {
            throw IOError(
                code: .loopUnavailable, message: "Could not make an event loop: libev refused.")
        }
        let wakeup = LoopWakeup(eventLoop)
        guard
            let (context, tableSize) = makeContext(on: eventLoop, user: wakeup.contextUser)
        else {
            ev_loop_destroy(eventLoop)
            throw IOError(
                code: .loopUnavailable,
                message: "Could not make a libwebsockets context on a libev loop. "
                    + "Either the process may open no more files (ulimit -n), or the library's libev "
                    + "plugin is not installed (Debian: libwebsockets-evlib-ev).")
        }
        self.loop = loop
        self.resolver = resolver
        libraryLoop = eventLoop
        libraryContext = context
        descriptorTableSize = tableSize
        self.wakeup = wakeup
        wakeup.owner = self
        loop.mailbox.open(ringing: wakeup.alarm)
    }

    // MARK: - Life

    /// The thread's body: serves until a stop is requested, then takes everything down.
    func run() {
        while !isStopping {
            if lws_service(context, 0) < 0 {
                LibraryLog.emit(
                    .error, "a network loop has failed and ends, and its connections with it")
                break
            }
        }
        destroy()
    }

    func requestStop() {
        isStopping = true
        // Ends the current ev_run; 2 is EVBREAK_ALL.
        ev_break(eventLoop, 2)
    }

    /// Frees everything, and notifies every handler that its connection is gone.
    func destroy() {
        enter {
            while let command = mail.popFirst() { run(command) }
            for command in loop.mailbox.close() { run(command) }
        }
        enter { for server in servers { server.abortAll() } }
        enter { for client in Array(clients.values) { client.abort() } }
        lws_context_destroy(libraryContext)
        // The library forgets none, but an owner must be told of its end in any case.
        enter { for stream in Array(libraryStreams.values) { stream.libraryDestroyed() } }
        libraryStreams = [:]
        clients = [:]
        servers = []
        wakeup.destroy()
        readBuffer.deallocate()
        ev_loop_destroy(libraryLoop)
    }

    private func onThread(_ handle: OpaquePointer) -> OpaquePointer {
        loop.assertIsCurrent()
        return handle
    }

    // MARK: - Callbacks

    /// Runs `body`, and after the outermost one sends what has been queued meanwhile.
    ///
    /// So everything that one batch of work sends on one connection goes out in one write.
    @discardableResult
    func enter<Value>(_ body: () -> Value) -> Value {
        callbackDepth += 1
        let value = body()
        if callbackDepth == 1 { flush() }
        callbackDepth -= 1
        return value
    }

    /// Whether one of the library's callbacks is being served. A connection of the library must not be destroyed then.
    var isInLibrary: Bool { libraryDepth > 0 }

    /// As ``enter(_:)``, in a callback of the library.
    func enterFromLibrary<Value>(_ body: () -> Value) -> Value {
        libraryDepth += 1
        defer { libraryDepth -= 1 }
        return enter(body)
    }

    /// Runs what other threads have posted, in order, for one slice; the rest at the next turn. Posts that
    /// arrive meanwhile come after it.
    private func runMail() {
        mail.append(contentsOf: loop.mailbox.takeAll())
        let end = sliceEnd()
        while let command = mail.popFirst() {
            run(command)
            if !mail.isEmpty, monotonicMilliseconds() >= end { return wakeup.ring() }
        }
    }

    private func run(_ command: Mailbox.Command) {
        switch command {
        case .perform(let action): action(self)
        case .job(let job): job.runSynchronously(on: loop.asUnownedSerialExecutor())
        }
    }

    private func sliceEnd() -> Int64 { monotonicMilliseconds() + Self.sliceMilliseconds }

    /// Remembers that `connection` has something to send.
    func needsFlush(_ connection: any Flushable) {
        flushQueue.append(connection)
        if callbackDepth == 0 { flush() }
    }

    /// Sends what is queued, for one slice; the rest at the next turn.
    private func flush() {
        // As long as there is a slice to come, new work waits for it.
        if isFlushWaiting { return }
        let end = sliceEnd()
        while let connection = flushQueue.popFirst() {
            connection.flush()
            if !flushQueue.isEmpty, monotonicMilliseconds() >= end {
                isFlushWaiting = true
                return wakeup.ring()
            }
        }
    }

    /// The next turn has come, for the mail and for what is to be sent.
    func runNextSlices() {
        isFlushWaiting = false
        // What it sends joins the queue.
        runMail()
    }

    /// Lends the buffer into which all sockets are read; nothing is kept in it.
    func withReadBuffer<Value>(_ body: (UnsafeMutableRawBufferPointer) -> Value) -> Value {
        body(readBuffer)
    }

    // MARK: - Connections

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Keeps `stream` until `remove`; the library holds only a plain pointer to it.
    func insert(_ stream: LibraryStream) {
        libraryStreams[stream.id] = stream
    }

    /// How many connections the library has.
    var libraryStreamCount: Int { libraryStreams.count }

    func remove(_ stream: LibraryStream) {
        libraryStreams[stream.id] = nil
    }

    /// Keeps a connection that we made until `removeClient`.
    func insert(client: any Peer) {
        clients[client.id] = client
        scheduleSweep()
    }

    func removeClient(_ id: UInt64) {
        clients[id] = nil
    }

    /// The vhost under which clients connect.
    func vhostForClients() -> OpaquePointer? {
        if clientVhost == nil { clientVhost = makeClientVhost(in: context) }
        return clientVhost
    }

    func insert(_ server: ServerState) {
        servers.append(server)
    }

    /// Once a second, while there is anything: deadlines, dead peers, stuck writers.
    func scheduleSweep() {
        if isSweepScheduled || clients.isEmpty && servers.allSatisfy(\.isEmpty) { return }
        isSweepScheduled = true
        schedule(at: monotonicMilliseconds() + 1_000) { [unowned self] in
            isSweepScheduled = false
            let now = monotonicMilliseconds()
            for client in Array(clients.values) { client.sweep(now: now) }
            for server in servers { server.sweep(now: now) }
            scheduleSweep()
        }
    }

    // MARK: - Timers

    /// Runs `action` at `deadline`, in monotonic milliseconds.
    @discardableResult
    func schedule(at deadline: Int64, _ action: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(deadline: deadline, action: action)
        timers.insert(timer)
        armWakeup()
        return timer
    }

    func fireDueTimers() {
        wakeupDeadline = nil
        let now = monotonicMilliseconds()
        while let timer = timers.popDue(at: now) { timer.fire() }
        armWakeup()
    }

    private func armWakeup() {
        guard let earliest = timers.earliest, earliest < wakeupDeadline ?? .max else { return }
        wakeupDeadline = earliest
        wakeup.setTimer(milliseconds: max(1, earliest - monotonicMilliseconds()))
    }
}
