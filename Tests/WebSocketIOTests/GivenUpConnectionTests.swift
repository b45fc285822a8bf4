import Testing
import WebSocketTesting

@testable import WebSocketIO

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A client that gives up an attempt leaves nothing behind.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct GivenUpConnectionTests {
    /// How far an attempt gets.
    enum Stage: CaseIterable {
        /// The server's queue is full: the connection is not made.
        case connecting
        /// The connection is there, and nobody speaks.
        case handshake
        /// The same, with TLS.
        case encryptedHandshake
        /// Nobody listens.
        case refused
    }

    @Test(arguments: Stage.allCases)
    func noDescriptorIsLeft(_ stage: Stage) async throws {
        let deaf = try DeafListener(backlog: stage == .connecting ? 0 : 128)
        if stage == .connecting { deaf.fill() }
        let address = ServerAddress(
            isSecure: stage == .encryptedHandshake, host: "127.0.0.1",
            port: stage == .refused ? 1 : deaf.port)
        let loop = try IOLoop.start()
        var sockets: Set<UInt64> = []
        for round in 0..<25 {
            let attempts = try await loop.runOnCore { core in
                let attempts = try (0..<8).map { _ in
                    try Attempt.begin(to: address, core)
                }
                // Some are given up at once, some later.
                if round % 2 == 0 { for attempt in attempts { attempt.giveUp() } }
                return attempts
            }
            sockets.formUnion(attempts.compactMap(\.socket))
            try await loop.run { for attempt in attempts { attempt.giveUp() } }
        }
        try await loop.run {}
        let streams = try await loop.runOnCore { $0.libraryStreamCount }
        #expect(streams == 0)
        // Those that are refused may be gone at once.
        if stage != .refused { #expect(sockets.count == 200) }
        #expect(Self.openFiles().isDisjoint(with: sockets))
        await loop.stop()
    }

    @Test(arguments: [false, true])
    func anAttemptThatTakesTooLongLeavesNoDescriptor(_ isSecure: Bool) async throws {
        let deaf = try DeafListener(backlog: 128)
        let address = ServerAddress(isSecure: isSecure, host: "127.0.0.1", port: deaf.port)
        let loop = try IOLoop.start()
        var options = WebSocketClient.Options()
        options.connectTimeout = .milliseconds(5)
        for _ in 0..<50 {
            let error = await #expect(throws: IOError.self) {
                try await WebSocketChannel.connect(to: address, options, on: loop)
            }
            #expect(error?.code == .timedOut)
        }
        let streams = try await loop.runOnCore { $0.libraryStreamCount }
        #expect(streams == 0)
        await loop.stop()
    }

    /// The loop ends in the middle of everything.
    @Test func attemptsEndWithTheirLoop() async throws {
        let deaf = try DeafListener(backlog: 128)
        var sockets: Set<UInt64> = []
        for _ in 0..<20 {
            let loop = try IOLoop.start()
            for isSecure in [false, true] {
                let address = ServerAddress(
                    isSecure: isSecure, host: "127.0.0.1", port: deaf.port)
                let attempt = try await loop.runOnCore { try Attempt.begin(to: address, $0) }
                sockets.formUnion([attempt.socket].compactMap { $0 })
            }
            await loop.stop()
        }
        #expect(sockets.count == 40)
        #expect(Self.openFiles().isDisjoint(with: sockets))
    }

    /// The numbers that the system gave to what is open. They are not given twice soon, as those of descriptors are.
    private static func openFiles() -> Set<UInt64> {
        Set((0..<20_000).compactMap { file(of: $0) })
    }

    fileprivate static func file(of descriptor: Int32) -> UInt64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// A connection that is being made.
    private final class Attempt: ByteStreamOwner, @unchecked Sendable {
        // Unchecked: used on the loop's thread only; but for `socket`, which never changes.
        private var stream: ByteStream?
        /// The number of its socket; nil when that is gone already.
        let socket: UInt64?

        static func begin(to address: ServerAddress, _ core: LoopCore) throws -> Attempt {
            let owner = Attempt(nil, nil)
            let stream = try ByteStream.connect(
                to: address, authorityFile: nil, owner: owner, core: core)
            return Attempt(stream, stream.descriptor.flatMap { file(of: $0) })
        }

        private init(_ stream: ByteStream?, _ socket: UInt64?) {
            self.stream = stream
            self.socket = socket
        }

        func giveUp() { stream?.close() }

        func streamReceived(_ bytes: UnsafeRawBufferPointer) {}
        func streamInputEnded() {}
        func streamLost(_ cause: String) {}
    }
}
