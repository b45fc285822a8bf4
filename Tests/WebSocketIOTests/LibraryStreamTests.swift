import CLibwebsockets
import Testing
import WebSocketTesting

@testable import WebSocketIO

/// What the library tells of its connections, and what it is answered.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct LibraryStreamTests {
    /// Notes what it hears.
    private final class Owner: ByteStreamOwner {
        var opened = 0
        var lost: [String] = []

        func streamOpened() { opened += 1 }
        func streamReceived(_ bytes: UnsafeRawBufferPointer) {}
        func streamInputEnded() {}
        func streamLost(_ cause: String) { lost.append(cause) }
    }

    /// A connection that is being made, on a loop.
    private func withStream(
        to port: Int, _ body: @escaping @Sendable (LibraryStream, Owner, LoopCore) -> Void
    ) async throws {
        let loop = try IOLoop.start()
        try await loop.runOnCore { core in
            let owner = Owner()
            let stream = LibraryStream.connect(
                to: ServerAddress(host: "127.0.0.1", port: port), owner: owner, core: core)
            body(stream, owner, core)
        }
        await loop.stop()
    }

    /// Most callbacks come from the middle of the library's own work; of those that ask for the tables of descriptors
    /// it takes any other answer for a refusal, and keeps a descriptor that it closes.
    @Test func onlyCallbacksAboutALivingConnectionMayEndIt() async throws {
        let deaf = try DeafListener()
        try await withStream(to: deaf.port) { stream, _, core in
            // Never looked at, as the stream is closed.
            guard let handle = OpaquePointer(bitPattern: 1) else { return }
            stream.close()
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            let ending = [
                LWS_CALLBACK_RAW_CONNECTED, LWS_CALLBACK_RAW_RX, LWS_CALLBACK_RAW_WRITEABLE,
            ]
            for reason in 0..<200 {
                let reason = lws_callback_reasons(UInt32(reason))
                let answer = stream.handle(reason, wsi: handle, nothing)
                #expect(answer == (ending.contains(reason) ? -1 : 0), "\(reason)")
            }
        }
    }

    /// 4.3.3 does.
    @Test func aConnectionOpensOnceHoweverOftenTheLibrarySaysSo() async throws {
        try await TestServer.run { server in
            let address = ServerAddress(host: "127.0.0.1", port: server.port)
            let client = try await StreamClient.connect(
                to: address, authorityFile: nil, on: server.loop)
            _ = try await client.upgrade()
            #expect(client.openings == 1)
            try await client.close()
        }
    }

    @Test func aHostThatIsUnknownIsAnErrorAtOnce() async throws {
        let loop = try IOLoop.start()
        // No label of a name is as long as this: nobody is asked for it.
        let host = String(repeating: "x", count: 64) + ".invalid"
        let address = ServerAddress(host: host, port: 1)
        var options = WebSocketClient.Options()
        options.connectTimeout = .seconds(3_600)
        let error = await #expect(throws: IOError.self) {
            try await WebSocketChannel.connect(to: address, options, on: loop)
        }
        #expect(error?.code == .cannotConnect)
        await loop.stop()
    }
}
