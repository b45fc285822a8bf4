#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How long a connection waits, at most.
package struct PostgreSQLTimeouts: Sendable {
    /// For each IP address of each server that the address names, until it is connected.
    package var connect = Duration.seconds(5)
    /// For a statement, by the server (`statement_timeout`). Half as long again, the connection waits for it without
    /// hearing anything.
    package var statement = Duration.seconds(30)
    /// For a lock, by the server (`lock_timeout`).
    package var lock = Duration.seconds(10)
    /// How long the server lets a transaction be open and idle (`idle_in_transaction_session_timeout`).
    package var idleInTransaction = Duration.seconds(10)
    /// How long what was sent may stay unconfirmed by the other machine (`tcp_user_timeout`), and after how long a
    /// silent one is given up. That is so of both sides: the client's, and the server's.
    package var network = Duration.seconds(10)

    package init() {}

    /// Makes no wait longer than this.
    package mutating func limit(to time: Duration) {
        connect = min(connect, time)
        statement = min(statement, time)
        lock = min(lock, time)
        network = min(network, time)
    }

    /// When a silent machine is asked whether it is there; in seconds, apart from the count.
    var keepalive: [(name: String, value: Int32)] {
        let seconds = network.pollMilliseconds / 1000
        return [("idle", max(1, seconds / 2)), ("interval", max(1, seconds / 6)), ("count", 3)]
    }

    /// How long nothing is heard before the connection is given up.
    var silence: Duration { statement * 3 / 2 }
}

/// A connection to a PostgreSQL server, for one thread at a time.
///
/// Its methods block, and every wait has an end: the server's timeouts, that of the network, one of its own, and
/// ``Abandonment``. libpq is used without blocking, so that one place waits. The only wait that is not ours is for
/// the name of a host, which has the resolver's timeouts.
///
/// Not Sendable: libpq's connections are for one thread at a time.
package final class PostgreSQLConnection {
    package let address: PostgreSQLAddress
    private let library: LibPQ
    private let timeouts: PostgreSQLTimeouts
    private let abandonment: Abandonment
    /// nil once it is closed.
    private var connection: LibPQ.Connection?
    private let notices = NoticeBox()

    /// - Parameters:
    ///   - settings: of the session, beside the timeouts.
    /// - Throws: `noLibrary`, `notConnected`, `abandoned`.
    package init(
        _ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts = PostgreSQLTimeouts(),
        settings: [(name: String, value: String)] = [], abandonment: Abandonment
    ) throws(PostgreSQLError) {
        library = try LibPQ.shared.get()
        self.address = address
        self.timeouts = timeouts
        self.abandonment = abandonment
        try connect()
        let waits = [
            ("statement_timeout", timeouts.statement), ("lock_timeout", timeouts.lock),
            ("idle_in_transaction_session_timeout", timeouts.idleInTransaction),
            ("tcp_user_timeout", timeouts.network),
        ].map { (name: $0.0, value: "\($0.1.pollMilliseconds)ms") }
        // None of the server's timeouts runs while it waits for the rest of a message, with its locks.
        let keepalive = timeouts.keepalive.map {
            (name: "tcp_keepalives_\($0.0)", value: "\($0.1)")
        }
        do throws(PostgreSQLError) {
            try set(waits + keepalive + settings)
        } catch {
            close()
            throw error.code == .abandoned ? error : .notConnected(address, error.message)
        }
    }

    deinit { close() }

    /// Gives the connection back. What it was asked last may go on at the server.
    package func close() {
        if let connection = connection.take() { library.finish(connection) }
    }

    /// False once it was lost or closed.
    package var isOpen: Bool { connection != nil }

    // MARK: Connecting

    /// Connects to the first of the servers that takes it.
    ///
    /// One after the other, rather than all by libpq: that gives a server up only when its socket fails, so it does not
    /// go on after one that has accepted the connection and says nothing.
    private func connect() throws(PostgreSQLError) {
        var reasons: [String] = []
        for parameters in address.hosts {
            let connection = try start(parameters)
            self.connection = connection
            do throws(PostgreSQLError) {
                guard let reason = try failure(of: connection) else {
                    return setUp(connection, parameters)
                }
                reasons.append(address.withoutPassword(reason))
            } catch {
                close()
                throw error
            }
            close()
        }
        throw .notConnected(address, reasons.joined(separator: "; "))
    }

    /// Begins a connection, with what the address does not say itself.
    private func start(
        _ parameters: [PostgreSQLAddress.Parameter]
    ) throws(PostgreSQLError) -> LibPQ.Connection {
        var parameters = parameters
        let additions =
            [
                ("client_encoding", "UTF8"), ("fallback_application_name", "relay"),
                // Of several IP addresses libpq tries the next one by itself, when this has failed the socket.
                (Self.tcpUserTimeout, "\((timeouts.connect * 4 / 5).pollMilliseconds)"),
            ] + timeouts.keepalive.map { ("keepalives_\($0.0)", "\($0.1)") }
        for (keyword, value) in additions
        where !parameters.contains(where: { $0.keyword == keyword }) {
            parameters.append(PostgreSQLAddress.Parameter(keyword: keyword, value: value))
        }
        let started = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in
                library.connectStart(keywords, values, 0)
            }
        }
        guard let started else { throw .notConnected(address, "there is no memory left") }
        return started
    }

    /// Waits until it is connected.
    /// - Returns: why it is not; nil if it is.
    /// - Throws: `abandoned`, `lost`.
    private func failure(of connection: LibPQ.Connection) throws(PostgreSQLError) -> String? {
        var place = place(of: connection)
        var deadline = ContinuousClock.now + timeouts.connect
        var wanted = LibPQStatus.pollingWriting
        if library.status(connection) == LibPQStatus.connectionBad {
            wanted = LibPQStatus.pollingFailed
        }
        while wanted != LibPQStatus.pollingOK {
            guard wanted != LibPQStatus.pollingFailed else { return message }
            let events = wanted == LibPQStatus.pollingReading ? POLLIN : POLLOUT
            guard try wait(for: Int16(events), until: deadline) else {
                let place = place.joined(separator: " ")
                return "nothing was heard from \(place) for \(timeouts.connect)"
            }
            wanted = library.connectPoll(connection)
            let next = self.place(of: connection)
            if next != place { deadline = .now + timeouts.connect }
            place = next
        }
        return nil
    }

    /// What libpq connects to at the moment.
    private func place(of connection: LibPQ.Connection) -> [String] {
        [library.host, library.hostAddress, library.port].compactMap { part in
            part(connection).map { String(cString: $0) }
        }.filter { !$0.isEmpty }
    }

    private func setUp(
        _ connection: LibPQ.Connection, _ parameters: [PostgreSQLAddress.Parameter]
    ) {
        _ = library.setNonblocking(connection, 1)
        _ = library.setNoticeReceiver(
            connection, { NoticeBox.receive($0, $1) },
            Unmanaged.passUnretained(notices).toOpaque())
        #if os(Linux)
            if parameters.contains(where: { $0.keyword == Self.tcpUserTimeout }) { return }
            var network = UInt32(timeouts.network.pollMilliseconds)
            // Fails for a socket that is not of TCP, which needs none.
            _ = setsockopt(
                library.socket(connection), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &network,
                socklen_t(MemoryLayout.size(ofValue: network)))
        #endif
    }

    private static let tcpUserTimeout = "tcp_user_timeout"

    private var message: String {
        connection.flatMap { library.errorMessage($0) }.map { String(cString: $0) } ?? ""
    }

    /// Sets settings of the session.
    private func set(_ settings: [(name: String, value: String)]) throws(PostgreSQLError) {
        let calls = settings.indices.map { "set_config($\($0 * 2 + 1), $\($0 * 2 + 2), false)" }
        try run(
            "SELECT " + calls.joined(separator: ", "),
            settings.flatMap { [.text($0.name), .text($0.value)] })
    }

    // MARK: Statements

    /// Carries out one statement and waits for its end.
    ///
    /// - Throws: `refused` if the server undid it, `lost` and `abandoned` if its outcome is not known,
    ///   `notConnected` if the connection was closed before.
    @discardableResult
    package func run(
        _ statement: String, _ parameters: [PostgreSQLValue] = []
    ) throws(PostgreSQLError) -> PostgreSQLRows {
        guard let connection else { throw .closed(address) }
        notices.removeAll()
        do throws(PostgreSQLError) {
            try send(statement, parameters, on: connection)
            return try receive(on: connection)
        } catch {
            // An answer that comes later would be taken for that of another statement.
            if error.code == .lost || error.code == .abandoned { close() }
            throw error
        }
    }

    /// The warnings that came with the last statement.
    package var warnings: [PostgreSQLNotice] { notices.all }

    private func send(
        _ statement: String, _ parameters: [PostgreSQLValue], on connection: LibPQ.Connection
    ) throws(PostgreSQLError) {
        let encoded = parameters.map(\.encoded)
        let isSent = withPointers(encoded) { values in
            library.send(
                connection, statement, Int32(parameters.count), parameters.map(\.type), values,
                encoded.map { Int32(clamping: $0?.count ?? 0) },
                [Int32](repeating: 1, count: parameters.count), 1)
        }
        guard isSent == 1 else { throw .lost(address, message) }
        while true {
            switch library.flush(connection) {
            case 0: return
            case 1:
                // The server may have to be read from before it takes more.
                let events = Int16(POLLIN | POLLOUT)
                guard try wait(for: events, until: .now + timeouts.silence) else {
                    throw .lost(address, "it took nothing for \(timeouts.silence)")
                }
                guard library.consumeInput(connection) == 1 else { throw .lost(address, message) }
            default: throw .lost(address, message)
            }
        }
    }

    private func receive(on connection: LibPQ.Connection) throws(PostgreSQLError) -> PostgreSQLRows
    {
        var outcome: Result<PostgreSQLRows, PostgreSQLError>?
        while true {
            try waitForResult(on: connection)
            guard let result = library.takeResult(connection) else { break }
            let next = self.outcome(of: result)
            // A statement is committed after its rows have been sent, so they may be followed by the error that undid it.
            // After an error comes at most the news that the connection is lost.
            if case .failure = outcome { continue }
            outcome = next
        }
        guard let outcome else { throw .lost(address, message) }
        return try outcome.get()
    }

    /// Waits until ``LibPQ/takeResult`` does not block.
    private func waitForResult(on connection: LibPQ.Connection) throws(PostgreSQLError) {
        var deadline = ContinuousClock.now + timeouts.silence
        while library.isBusy(connection) != 0 {
            // Encrypted, libpq may have more than the socket shows: look again now and then.
            let look = min(deadline, .now + .seconds(1))
            if try wait(for: Int16(POLLIN), until: look) {
                deadline = .now + timeouts.silence
            } else if ContinuousClock.now >= deadline {
                throw .lost(address, "nothing was heard for \(timeouts.silence)")
            }
            guard library.consumeInput(connection) == 1 else { throw .lost(address, message) }
        }
    }

    private func outcome(of result: LibPQ.Result) -> Result<PostgreSQLRows, PostgreSQLError> {
        switch library.resultStatus(result) {
        case LibPQStatus.commandOK, LibPQStatus.tuplesOK, LibPQStatus.emptyQuery:
            return .success(PostgreSQLRows(result, library))
        default:
            defer { library.clear(result) }
            let notice = PostgreSQLNotice(result, library)
            guard let state = notice.sqlState, notice.severity == "ERROR" else {
                // The server has ended the connection (FATAL), or it was cut: libpq says so itself, and has no code.
                return .failure(.lost(address, notice.message.isEmpty ? message : notice.message))
            }
            let text = address.withoutPassword(notice.text)
            return .failure(
                PostgreSQLError(.refused, "\(address) refused: \(text).", sqlState: state))
        }
    }

    // MARK: Notifications

    /// Has the server tell of notifications on a channel.
    package func listen(to channel: String) throws(PostgreSQLError) {
        try run("LISTEN \(channel.quotedIdentifier)")
    }

    /// The payload of the next notification; nil if there is none in this time.
    /// - Throws: `lost`, `abandoned`.
    package func nextNotification(within time: Duration) throws(PostgreSQLError) -> String? {
        guard let connection else { throw .closed(address) }
        let deadline = ContinuousClock.now + time
        do throws(PostgreSQLError) {
            while true {
                guard library.consumeInput(connection) == 1 else { throw .lost(address, message) }
                if let notification = library.notifies(connection) {
                    defer { library.freeMemory(notification) }
                    return LibPQ.payload(of: notification)
                }
                if try !wait(for: Int16(POLLIN), until: deadline) { return nil }
            }
        } catch {
            close()
            throw error
        }
    }

    /// Takes the notifications that have come so far: they would be kept until somebody does.
    package func forgetNotifications() throws(PostgreSQLError) {
        while try nextNotification(within: .zero) != nil {}
    }

    // MARK: Waiting

    /// - Returns: false when the time is over.
    /// - Throws: `abandoned`.
    private func wait(
        for events: Int16, until deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) -> Bool {
        guard let connection else { throw .closed(address) }
        let socket = library.socket(connection)
        guard socket >= 0 else { throw .lost(address, message) }
        while true {
            var wanted = [
                pollfd(fd: socket, events: events, revents: 0),
                pollfd(fd: abandonment.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let left = deadline - .now
            let found = poll(&wanted, 2, left > .zero ? left.pollMilliseconds : 0)
            if found < 0, errno != EINTR {
                throw .lost(address, String(cString: strerror(errno)))
            }
            if wanted[1].revents != 0, found > 0 { throw .abandoned(address) }
            if wanted[0].revents != 0, found > 0 { return true }
            if left <= .zero { return false }
        }
    }
}

extension String {
    /// As a name in a statement.
    package var quotedIdentifier: String { "\"" + replacing("\"", with: "\"\"") + "\"" }
}

/// Calls `body` with an array of C strings that ends with nil.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer<CChar>($0) } + [nil]
    return pointers.withUnsafeBufferPointer { buffer in
        // It has at least the nil.
        body(buffer.baseAddress.unsafelyUnwrapped)
    }
}

/// Calls `body` with pointers to all of the values at once; nil for those that are nil.
private func withPointers<Result>(
    _ values: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    func next(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) -> Result {
        guard index < values.count else {
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
        guard let value = values[index] else { return next(index + 1, pointers + [nil]) }
        // An empty array may have no address, and no address means null.
        return (value.isEmpty ? [0] : value).withUnsafeBytes { bytes in
            next(index + 1, pointers + [bytes.baseAddress?.assumingMemoryBound(to: CChar.self)])
        }
    }
    return next(0, [])
}
