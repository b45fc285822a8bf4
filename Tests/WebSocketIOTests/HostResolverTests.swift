import BoundedTesting
import Dispatch
import HTTPMessages
import Testing
import Threads
import WebSocketTesting

@testable import WebSocketIO

/// Names of hosts are looked up beside the loop, which serves its other connections meanwhile.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HostResolverTests {
    /// A name server that answers when it is told to.
    private final class SlowNames: Sendable {
        private let begun = Lock<[String]>([])
        private let gate = DispatchSemaphore(value: 0)

        /// The names that were asked for so far.
        var asked: [String] { begun.withLock { $0 } }

        func resolver(_ addresses: [String] = ["127.0.0.1"]) -> HostResolver {
            HostResolver { host in
                self.begun.withLock { $0.append(host) }
                self.gate.wait()
                return .success(addresses)
            }
        }

        func answer(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }
    }

    /// Runs `body` on a loop whose names are looked up in `names`.
    private func withLoop(
        _ resolver: HostResolver, _ body: (IOLoop) async throws -> Void
    ) async throws {
        let loop = try IOLoop.start(resolver: resolver)
        do {
            try await body(loop)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    @Test func whileANameIsLookedUpOthersAreServed() async throws {
        let names = SlowNames()
        try await TestServer.run { server in
            try await withLoop(names.resolver()) { loop in
                async let slow = HTTPClient.send(
                    to: ServerAddress(host: "slow.test", port: server.port), on: loop)
                await eventually { names.asked == ["slow.test"] }
                let other = try await HTTPClient.send(
                    to: ServerAddress(host: "127.0.0.1", port: server.port), on: loop)
                #expect(other.status == 200)
                names.answer()
                #expect(try await slow.status == 200)
                #expect(server.handler.now.requests.count == 2)
            }
        }
    }

    @Test(arguments: [false, true])
    func aNameThatIsNotAnsweredIsGivenUpInTime(_ isSecure: Bool) async throws {
        let names = SlowNames()
        let resolver = names.resolver()
        try await TestServer.run { server in
            try await withLoop(resolver) { loop in
                let address = ServerAddress(
                    isSecure: isSecure, host: "slow.test", port: server.port)
                var options = WebSocketClient.Options()
                options.connectTimeout = .milliseconds(50)
                let error = await #expect(throws: IOError.self) {
                    try await WebSocketChannel.connect(to: address, options, on: loop)
                }
                #expect(error?.code == .timedOut)
                var httpOptions = HTTPClient.Options()
                httpOptions.timeout = .milliseconds(50)
                let httpError = await #expect(throws: IOError.self) {
                    try await HTTPClient.send(to: address, httpOptions, on: loop)
                }
                #expect(httpError?.code == .cannotConnect)
                #expect(resolver.waitingCount == 0)
                // Two connections, one name: it is asked for once, and the answer comes too late.
                #expect(names.asked == ["slow.test"])
                names.answer()
                let other = try await HTTPClient.send(
                    to: ServerAddress(host: "127.0.0.1", port: server.port), on: loop)
                #expect(other.status == 200)
                #expect(server.handler.now.upgrades.isEmpty)
                #expect(server.handler.now.requests.count == 1)
            }
        }
    }

    @Test func aRequestThatIsCancelledWaitsForNoName() async throws {
        let names = SlowNames()
        let resolver = names.resolver()
        try await withLoop(resolver) { loop in
            let answer = HTTPClient.stream(
                to: ServerAddress(host: "slow.test", port: 1), on: loop, handler: Silence())
            await eventually { names.asked == ["slow.test"] }
            answer.cancel()
            await eventually { resolver.waitingCount == 0 }
            names.answer()
        }
    }

    @Test func aLoopThatStopsWaitsForNoName() async throws {
        let names = SlowNames()
        let resolver = names.resolver()
        let loop = try IOLoop.start(resolver: resolver)
        let connecting = Task {
            try await WebSocketChannel.connect(
                to: ServerAddress(host: "slow.test", port: 1), on: loop)
        }
        await eventually { names.asked == ["slow.test"] }
        await loop.stop()
        let error = await #expect(throws: IOError.self) { _ = try await connecting.value }
        #expect(error?.code == .cannotConnect)
        #expect(resolver.waitingCount == 0)
        names.answer()
    }

    @Test(arguments: [false, true])
    func theAddressesOfAHostAreTriedOneAfterTheOther(_ isSecure: Bool) async throws {
        let certificate = try TestCertificate()
        // Nobody listens on the first ones. Not every machine has the sixth version.
        let resolver = HostResolver { _ in .success(["127.0.0.2", "::1", "127.0.0.1"]) }
        try await TestServer.run({ $0.tls = isSecure ? certificate.identity : nil }) { server in
            try await withLoop(resolver) { loop in
                let address = ServerAddress(
                    isSecure: isSecure, host: "localhost", port: server.port)
                let options = HTTPClient.Options(authorityFile: certificate.certificateFile)
                for _ in 0..<3 {
                    let answer = try await HTTPClient.send(to: address, options, on: loop)
                    #expect(answer.status == 200)
                }
                let channel = try await WebSocketChannel.connect(
                    to: address,
                    WebSocketClient.Options(authorityFile: certificate.certificateFile), on: loop)
                channel.connection.send(OutgoingMessage(.text, Array("hello".utf8)))
                var messages = channel.makeAsyncIterator()
                #expect(await messages.next()?.bytes == Array("hello".utf8))
                let counts = try await loop.runOnCore { $0.libraryStreamCount }
                #expect(counts == 1)
                channel.connection.close()
            }
        }
    }

    /// As where the sixth version of IP leads nowhere.
    @Test(arguments: [(1, false), (1, true), (5, false)])
    func addressesThatDoNotAnswerLeaveTimeForTheLast(
        _ deafCount: Int, _ isSecure: Bool
    ) async throws {
        let certificate = try TestCertificate()
        let deaf = try DeafListener(backlog: 0)
        deaf.fill()
        let addresses = Array(repeating: "127.0.0.1", count: deafCount) + ["127.0.0.2"]
        let resolver = HostResolver { _ in .success(addresses) }
        try await TestServer.run({
            $0.host = "127.0.0.2"
            $0.port = deaf.port
            $0.tls = isSecure ? certificate.identity : nil
        }) { server in
            try await withLoop(resolver) { loop in
                var options = WebSocketClient.Options(authorityFile: certificate.certificateFile)
                // The part of each is the least there is.
                options.connectTimeout = .milliseconds(1_000)
                var tries = 0
                var channel: WebSocketChannel?
                // On a busy machine the rest may be too short.
                while channel == nil, tries < 8 {
                    tries += 1
                    channel = try? await WebSocketChannel.connect(
                        to: ServerAddress(
                            isSecure: isSecure, host: "localhost", port: server.port), options,
                        on: loop)
                    options.connectTimeout *= 2
                }
                let connected = try #require(channel)
                connected.connection.send(OutgoingMessage(.text, Array("hello".utf8)))
                var messages = connected.makeAsyncIterator()
                #expect(await messages.next()?.bytes == Array("hello".utf8))
                connected.connection.close()
            }
        }
        withExtendedLifetime(deaf) {}
    }

    @Test(arguments: [["127.0.0.2", "127.0.0.3"], []])
    func aHostNoneOfWhoseAddressesAnswersIsAnError(_ addresses: [String]) async throws {
        // Nobody listens on port 1.
        try await withLoop(HostResolver { _ in .success(addresses) }) { loop in
            let error = await #expect(throws: IOError.self) {
                try await HTTPClient.send(
                    to: ServerAddress(host: "many.test", port: 1), on: loop)
            }
            #expect(error?.code == .cannotConnect)
            let count = try await loop.runOnCore { $0.libraryStreamCount }
            #expect(count == 0)
        }
    }

    /// One bad name server must not take a thread for each name of a program.
    @Test func soManyNamesAreAskedForAtATime() async throws {
        let names = SlowNames()
        let resolver = names.resolver()
        let answers = Lock(0)
        let lookUps = (0...HostResolver.nameLimit + 1).map { number in
            resolver.begin("\(number).test") { _ in answers.withLock { $0 += 1 } }
        }
        await eventually { names.asked.count == HostResolver.nameLimit }
        // One that is not asked for yet is not asked for any more; of another the answer is nobody's.
        resolver.cancel(lookUps[HostResolver.nameLimit])
        resolver.cancel(lookUps[0])
        names.answer(lookUps.count)
        await eventually { answers.withLock { $0 } == HostResolver.nameLimit }
        #expect(names.asked.contains("\(HostResolver.nameLimit + 1).test"))
        #expect(!names.asked.contains("\(HostResolver.nameLimit).test"))
        #expect(resolver.waitingCount == 0)
    }

    @Test func theSystemKnowsItself() async throws {
        let answer = await withCheckedContinuation { continuation in
            _ = HostResolver.system.begin("localhost") { continuation.resume(returning: $0) }
        }
        let addresses = try answer.get()
        #expect(addresses.contains("127.0.0.1") || addresses.contains("::1"))
        #expect(addresses.allSatisfy(HostResolver.isAddress))
        for address in ["127.0.0.1", "::1", "2001:db8::7"] {
            #expect(HostResolver.isAddress(address))
        }
        for name in ["localhost", "1.2.3", "example.org", ""] {
            #expect(!HostResolver.isAddress(name))
        }
    }

    private final class Silence: HTTPAnswerHandler {
        func began(_ head: HTTPResponse) {}
        func received(_ piece: UnsafeRawBufferPointer) {}
        func ended(_ error: IOError?) {}
    }
}
