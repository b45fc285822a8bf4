package import Foundation
import Threads

/// Stands between a client and a server on loopback, and cuts their connections at a byte that a test names.
package final class CuttingProxy: Sendable {
    /// When all connections are cut.
    package enum Cut: Sendable {
        /// After the client has sent this many bytes more, which still reach the server.
        case afterBytesSent(Int)
        /// When the server says something, in place of it.
        case atAnswer
    }

    package let port: Int
    private let listener: Int32
    private let state: Lock<State>

    private struct State {
        var serverPort: Int
        var cut: Cut?
        var sockets: Set<Int32> = []
        var isStopped = false
    }

    package init(to serverPort: Int) throws {
        state = Lock(State(serverPort: serverPort))
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) | listen(listener, 16)
                    | getsockname(listener, $0, &length)
            }
        }
        guard result == 0 else { throw NoPostgreSQL() }
        port = Int(in_port_t(bigEndian: address.sin_port))
        _ = BlockingThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                self.serve(client)
            }
        }
    }

    deinit { stop() }

    /// Cuts once; connections made after that go through.
    package func arm(_ cut: Cut) { state.withLock { $0.cut = cut } }

    package func disarm() { state.withLock { $0.cut = nil } }

    /// Has new connections go to another server. Those that there are stay.
    package func lead(to serverPort: Int) { state.withLock { $0.serverPort = serverPort } }

    package func stop() {
        let sockets = state.withLock { state -> Set<Int32> in
            guard !state.isStopped else { return [] }
            state.isStopped = true
            return state.sockets
        }
        for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ client: Int32) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(state.withLock { $0.serverPort })
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let mayServe = state.withLock { state in
            guard result == 0, !state.isStopped else { return false }
            state.sockets.formUnion([client, server])
            return true
        }
        guard mayServe else {
            Foundation.close(client)
            Foundation.close(server)
            return
        }
        let ends = Ends([client, server])
        _ = BlockingThread { [weak self] in
            pump(from: client, to: server) { self?.sending($0) ?? ($0, true) }
            self?.close(ends)
        }
        _ = BlockingThread { [weak self] in
            pump(from: server, to: client) { self?.answering($0) ?? ($0, true) }
            self?.close(ends)
        }
    }

    /// One connection's two sockets, closed when both directions have ended.
    private final class Ends: Sendable {
        let state = Lock(2)
        let sockets: [Int32]

        init(_ sockets: [Int32]) { self.sockets = sockets }
    }

    private func close(_ ends: Ends) {
        for socket in ends.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        let isLast = ends.state.withLock { left in
            left -= 1
            return left == 0
        }
        guard isLast else { return }
        let sockets = ends.sockets
        state.withLock { $0.sockets.subtract(sockets) }
        for socket in sockets { Foundation.close(socket) }
    }

    /// - Returns: how much of it reaches the server, and whether the connection goes on.
    private func sending(_ count: Int) -> (forwarded: Int, goesOn: Bool) {
        state.withLock { state in
            guard case .afterBytesSent(let left) = state.cut else { return (count, true) }
            if count <= left {
                state.cut = .afterBytesSent(left - count)
                return (count, true)
            }
            state.cut = nil
            return (left, false)
        }
    }

    private func answering(_ count: Int) -> (forwarded: Int, goesOn: Bool) {
        state.withLock { state in
            guard case .atAnswer = state.cut else { return (count, true) }
            state.cut = nil
            return (0, false)
        }
    }
}

/// An address of this machine.
package func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = in_port_t(port).bigEndian
    return address
}

private func pump(
    from source: Int32, to sink: Int32, _ pass: (Int) -> (forwarded: Int, goesOn: Bool)
) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = recv(source, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        let (forwarded, goesOn) = pass(count)
        var sent = 0
        while sent < forwarded {
            let more = buffer.withUnsafeBytes {
                let rest = $0.baseAddress?.advanced(by: sent)
                return send(sink, rest, forwarded - sent, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return }
            sent += more
        }
        guard goesOn else { return }
    }
}
