import Dispatch
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Finds the addresses of hosts. The system asks name servers and waits for them, for as long as they take and
/// without a way to stop it, so it is asked on threads of their own.
///
/// A name that several connections wait for is asked for once. When ``nameLimit`` names are being asked for, others
/// wait until one of them is answered. Those that wait have a time limit, and cancel their look-ups then.
package final class HostResolver: Sendable {
    /// Why there is no address.
    package struct Failure: Error, Equatable {
        let cause: String
    }

    /// Addresses as numbers, in the order in which they are to be tried.
    package typealias Answer = Result<[String], Failure>

    /// Somebody who waits for an answer.
    struct LookUp: Sendable {
        fileprivate let host: String
        fileprivate let number: UInt64
    }

    private struct Name {
        /// Those that wait for its addresses, by number.
        var waiting: [UInt64: @Sendable (Answer) -> Void] = [:]
        var isAsked = false
    }

    private struct State {
        var names: [String: Name] = [:]
        /// Names that are to be asked for, in the order in which they came.
        var line: [String] = []
        var askedCount = 0
        var lastNumber: UInt64 = 0
    }

    /// The one of the process, which asks the system.
    package static let system = HostResolver { askSystem($0) }
    /// So many names are asked for at a time, each on a thread.
    static let nameLimit = 8

    private let ask: @Sendable (String) -> Answer
    private let state = Lock(State())

    /// - Parameter ask: called for one name on a thread of its own, and may block.
    init(ask: @escaping @Sendable (String) -> Answer) { self.ask = ask }

    /// - Parameter answer: called once, on any thread, unless the look-up is cancelled before.
    func begin(_ host: String, answer: @escaping @Sendable (Answer) -> Void) -> LookUp {
        let lookUp = state.withLock { state in
            state.lastNumber += 1
            if state.names[host] == nil { state.line.append(host) }
            state.names[host, default: Name()].waiting[state.lastNumber] = answer
            return LookUp(host: host, number: state.lastNumber)
        }
        askForNext()
        return lookUp
    }

    /// The answer is not wanted any more. A name that is being asked for keeps its thread until there is one.
    func cancel(_ lookUp: LookUp) {
        state.withLock { state in
            guard var name = state.names[lookUp.host] else { return }
            name.waiting[lookUp.number] = nil
            let isForgotten = name.waiting.isEmpty && !name.isAsked
            state.names[lookUp.host] = isForgotten ? nil : name
            if isForgotten { state.line.removeAll { $0 == lookUp.host } }
        }
    }

    /// Look-ups that have neither been answered nor cancelled.
    var waitingCount: Int {
        state.withLock { $0.names.values.reduce(0) { $0 + $1.waiting.count } }
    }

    private func askForNext() {
        let next = state.withLock { state -> String? in
            guard state.askedCount < Self.nameLimit, let host = state.line.first else { return nil }
            state.line.removeFirst()
            state.names[host]?.isAsked = true
            state.askedCount += 1
            return host
        }
        guard let next else { return }
        DispatchQueue(label: "relay.resolver").async { [self] in
            let answer = ask(next)
            let waiting = state.withLock { state in
                state.askedCount -= 1
                return state.names.removeValue(forKey: next)?.waiting ?? [:]
            }
            for tell in waiting.values { tell(answer) }
            askForNext()
        }
    }
}

// MARK: - The system

extension HostResolver {
    /// Whether `host` is an address already, which needs no look-up.
    static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }

    private static func askSystem(_ host: String) -> Answer {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = streamSocket
        var first: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, nil, &hints, &first)
        guard failure == 0, let first else {
            let reason = String(cString: gai_strerror(failure))
            return .failure(Failure(cause: "the host is unknown (\(reason))"))
        }
        defer { freeaddrinfo(first) }
        return .success(
            sequence(first: first) { $0.pointee.ai_next }.compactMap { text(of: $0.pointee) })
    }

    /// Long enough for an address of IPv6 with the name of an interface.
    private static let addressBytes = 256

    private static func text(of info: addrinfo) -> String? {
        var text = [UInt8](repeating: 0, count: addressBytes)
        let failure = text.withUnsafeMutableBytes { text in
            getnameinfo(
                info.ai_addr, info.ai_addrlen,
                text.baseAddress?.assumingMemoryBound(to: CChar.self), socklen_t(text.count), nil,
                0, NI_NUMERICHOST)
        }
        return failure == 0 ? String(decoding: text.prefix { $0 != 0 }, as: UTF8.self) : nil
    }
}
