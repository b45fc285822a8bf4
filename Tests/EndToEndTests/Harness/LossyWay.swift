import Foundation

/// A port of 127.0.0.1 that leads to a server, until it is cut: what a server has said may get lost on it.
final class LossyWay: Sendable {
    private struct State {
        var target: Int
        /// What the server says from there on does not arrive.
        var lossBegins: [UInt8]?
        var sockets: Set<Int32> = []
    }

    let port: Int
    private let listener: Int32
    private let state: Watched<State>

    init(to target: Int) throws {
        listener = Self.socket()
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) | listen(listener, 16)
                    | getsockname(listener, $0, &length)
            }
        }
        port = Int(in_port_t(bigEndian: address.sin_port))
        state = Watched(State(target: target))
        guard result == 0 else {
            throw Failure("Could not listen: \(String(cString: strerror(errno)))")
        }
        Thread.detachNewThread { [state] in Self.accept(on: listener, state) }
    }

    deinit {
        cut()
        // Ends the thread, which closes it.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Of what the server says, the first piece with `text` in it gets lost, and all that follows it on that
    /// connection.
    func loses(from text: String) { state.update { $0.lossBegins = Array(text.utf8) } }

    /// New connections lead to another port.
    func leads(to target: Int) { state.update { $0.target = target } }

    /// Breaks all connections off. Nothing gets lost on new ones.
    func cut() {
        state.update { state in
            state.lossBegins = nil
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: Threads

    private static func accept(on listener: Int32, _ state: Watched<State>) {
        while true {
            let client = Foundation.accept(listener, nil, nil)
            if client < 0 {
                if errno == EINTR { continue }
                close(listener)
                return
            }
            // A program that another test starts must not hold it open.
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            Thread.detachNewThread { carry(client, state) }
        }
    }

    private static func carry(_ client: Int32, _ state: Watched<State>) {
        let server = socket()
        var address = address(state.value.target)
        let connected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        state.update { $0.sockets.formUnion([client, server]) }
        var isLosing = false
        var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        carrying: while connected == 0 {
            poll(&ends, 2, -1)
            for (from, to) in [(0, server), (1, client)] where ends[from].revents != 0 {
                let count = read(ends[from].fd, &buffer, buffer.count)
                if count <= 0 { break carrying }
                if to == client, let begin = state.value.lossBegins {
                    isLosing = isLosing || buffer[..<count].contains(begin)
                }
                if to == client, isLosing { continue }
                var sent = 0
                while sent < count {
                    let more = buffer.withUnsafeBytes { bytes in
                        write(to, bytes.baseAddress.map { $0 + sent }, count - sent)
                    }
                    if more <= 0 { break carrying }
                    sent += more
                }
            }
        }
        state.update { state in
            state.sockets.subtract([client, server])
            close(client)
            close(server)
        }
    }

    private static func socket() -> Int32 {
        #if canImport(Glibc)
            let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        return socket
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
