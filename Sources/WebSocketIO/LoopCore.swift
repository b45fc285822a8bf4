import CLibwebsockets

/// The part of a loop that belongs to its thread: the library's context, and everything on it.
///
/// Not Sendable: other threads get at it only through `IOLoop.performOnCore`.
final class LoopCore {
    let loop: IOLoop
    let context: OpaquePointer
    let eventLoop: OpaquePointer
    private var isStopping = false

    /// Everything the library calls back for, by a number of ours.
    private(set) var endpoints: [UInt64: Endpoint] = [:]
    /// The endpoint whose first callbacks come while its handle is being made.
    var adopting: Endpoint?
    /// The servers, and the connections of theirs that the library does not know.
    private var servers: [ServerState] = []
    private var lastID: UInt64 = 0
    /// Tables and strings that the library points into; kept until the context is gone.
    var libraryTables: [ProtocolTable] = []
    /// The vhosts under which clients connect, by authority file.
    var clientVhosts: [String?: OpaquePointer] = [:]

    private var callbackDepth = 0
    /// Sessions with something to send since the outermost callback began.
    private var unflushed: [WebSocketSession] = []
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 65_536, alignment: 16)
    /// Where frames are put together; one for all connections.
    let frames = FrameBuffer()

    private var timers = TimerQueue()
    private let wakeup: LoopWakeup
    private var wakeupDeadline: Int64?
    private var isSweepScheduled = false

    init(loop: IOLoop) throws(IOError) {
        LibraryLog.install()
        guard let eventLoop = ev_loop_new(0) else {
            throw IOError(
                code: .loopUnavailable, message: "Could not make an event loop: libev refused.")
        }
        let wakeup = LoopWakeup(eventLoop)
        guard let context = makeContext(on: eventLoop, user: wakeup.contextUser) else {
            ev_loop_destroy(eventLoop)
            throw IOError(
                code: .loopUnavailable,
                message: "Could not make a libwebsockets context on a libev loop. "
                    + "Is the library's libev plugin installed (Debian: libwebsockets-evlib-ev)?")
        }
        self.loop = loop
        self.eventLoop = eventLoop
        self.context = context
        self.wakeup = wakeup
        wakeup.owner = self
        loop.mailbox.open(ringing: wakeup.alarm)
    }

    // MARK: - Life

    /// The thread's body: serves until a stop is requested, then takes everything down.
    func run() {
        while !isStopping {
            if lws_service(context, 0) < 0 { break }
        }
        destroy()
    }

    func requestStop() {
        isStopping = true
        // Ends the current ev_run; 2 is EVBREAK_ALL.
        ev_break(eventLoop, 2)
    }

    /// Frees everything, and tells every handler that its connection is gone.
    func destroy() {
        enter { run(loop.mailbox.close()) }
        enter { for server in servers { server.abortAll() } }
        lws_context_destroy(context)
        // The library forgets none, but a handler must hear of its end in any case.
        enter { for endpoint in endpoints.values { endpoint.libraryDestroyed() } }
        endpoints = [:]
        servers = []
        wakeup.destroy()
        readBuffer.deallocate()
        ev_loop_destroy(eventLoop)
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

    /// Runs what other threads have posted.
    func runMail() {
        run(loop.mailbox.takeAll())
    }

    private func run(_ commands: [Mailbox.Command]) {
        for command in commands {
            switch command {
            case .perform(let action): action(self)
            case .job(let job): job.runSynchronously(on: loop.asUnownedSerialExecutor())
            }
        }
    }

    /// Remembers that `session` has something to send.
    func needsFlush(_ session: WebSocketSession) {
        unflushed.append(session)
        if callbackDepth == 0 { flush() }
    }

    private func flush() {
        // A flush can close a connection, whose handler may send on others: hence the index.
        var index = 0
        while index < unflushed.count {
            unflushed[index].flush()
            index += 1
        }
        unflushed.removeAll(keepingCapacity: index < 4_096)
    }

    /// Lends the buffer into which all sockets are read; nobody keeps anything in it.
    func withReadBuffer<Value>(_ body: (UnsafeMutableRawBufferPointer) -> Value) -> Value {
        body(readBuffer)
    }

    /// Makes the library look at its timers. It does so after each event of its own, so a timer that
    /// is set in an event of ours would wait for the next of those.
    func serviceLibraryTimers() {
        lws_cancel_service(context)
    }

    // MARK: - Endpoints

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Keeps `endpoint` until `remove`; the library holds only a plain pointer to it.
    func insert(_ endpoint: Endpoint) {
        endpoints[endpoint.id] = endpoint
        scheduleSweep()
    }

    func remove(_ endpoint: Endpoint) {
        endpoints[endpoint.id] = nil
    }

    func insert(_ server: ServerState) {
        servers.append(server)
    }

    /// Once a second, while there is anything: deadlines, dead peers, stuck writers.
    func scheduleSweep() {
        if isSweepScheduled || endpoints.isEmpty && servers.allSatisfy(\.isEmpty) { return }
        isSweepScheduled = true
        schedule(at: monotonicMilliseconds() + 1_000) { [unowned self] in
            isSweepScheduled = false
            let now = monotonicMilliseconds()
            for endpoint in Array(endpoints.values) { endpoint.sweep(now: now) }
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
