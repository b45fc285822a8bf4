import HTTPMessages
import JSONWebTokens
import Testing
import Threads
import WebSocketIO
import WebSocketTesting

@testable import RelayServer

/// Fetches from a real server, at times that the test says.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct KeyURLTests {
    /// A clock that is set by the test, what waits for it, and what was reported.
    private final class Scene: Sendable {
        private struct State {
            var now: Duration = .seconds(5_000)
            var waiting: [(due: Duration, action: @Sendable () -> Void)] = []
            var reports: [String] = []
        }

        private let state = Lock(State())

        func start(
            _ url: String, on loop: IOLoop, authorityFile: String? = nil,
            timeout: Duration = .testDeadline
        ) async throws -> KeyURL {
            try await KeyURL.start(
                at: KeyAddress(url), authorityFile: authorityFile, timeout: timeout, on: loop,
                now: { self.state.withLock { $0.now } },
                later: { delay, action in
                    self.state.withLock { $0.waiting.append(($0.now + delay, action)) }
                },
                report: { report in
                    let line =
                        switch report {
                        case .loaded(let keys): "loaded \(keys.keys.map { $0.id ?? "-" })"
                        case .kept(let error): "kept: \(error)"
                        case .missing(let error): "missing: \(error)"
                        }
                    self.state.withLock { $0.reports.append(line) }
                })
        }

        /// What is waited for, and comes due in that time, is done.
        func pass(_ time: Duration) {
            let end = state.withLock { $0.now + time }
            while let next = state.withLock({ state -> (@Sendable () -> Void)? in
                let first = state.waiting.indices.min {
                    state.waiting[$0].due < state.waiting[$1].due
                }
                guard let first, state.waiting[first].due <= end else { return nil }
                state.now = max(state.now, state.waiting[first].due)
                return state.waiting.remove(at: first).action
            }) { next() }
            state.withLock { $0.now = end }
        }

        var waitingCount: Int { state.withLock { $0.waiting.count } }

        /// What was reported since the last time.
        func reports() -> [String] {
            state.withLock { state in
                defer { state.reports = [] }
                return state.reports
            }
        }
    }

    private static let one = TokenSigner("one")
    private static let two = TokenSigner("two")

    private func ids(_ keys: KeyURL) -> [String?] { keys.keysAtHand.keys.map(\.id) }

    /// Waits for the end of a fetch, and of what follows it.
    private func fetches(_ count: Int, _ keys: KeyURL, _ scene: Scene) async throws {
        try await eventually("fetch \(count)") {
            let counts = keys.counts
            let isThere = counts.changed + counts.unchanged + counts.failed == count
            return isThere && scene.waitingCount == 1 ? true : nil
        }
    }

    private func failure(of start: () async throws -> KeyURL) async -> KeyURLError? {
        do {
            _ = try await start()
            return nil
        } catch { return error as? KeyURLError }
    }

    @Test func keysAreThereAfterTheStart() async throws {
        try await KeyProvider.run(KeyProvider.keys(Self.one, Self.two)) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            #expect(ids(keys) == ["one", "two"])
            #expect(keys.counts == KeyURL.Counts(changed: 1))
            #expect(scene.reports() == [])
            let request = try #require(provider.requests.first)
            #expect(request.method == "GET" && request.path == "/jwks.json")
            #expect(request.headers["accept"]?.contains("application/jwk-set+json") == true)
            #expect(request.headers["authorization"] == nil)
            await keys.stop()
        }
    }

    @Test func aMissedKeyIsFetched() async throws {
        try await KeyProvider.run(KeyProvider.keys(Self.one)) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            provider.behave(KeyProvider.keys(Self.one, Self.two))
            keys.missedKey()
            try await fetches(2, keys, scene)
            #expect(ids(keys) == ["one", "two"])
            #expect(scene.reports() == [#"loaded ["one", "two"]"#])
            await keys.stop()
        }
    }

    /// Strangers can make any number of tokens with keys that nobody knows.
    @Test func missedKeysCauseOneFetchInAnInterval() async throws {
        try await KeyProvider.run(KeyProvider.keys(Self.one)) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            for round in 2...4 {
                await withTaskGroup { group in
                    for _ in 0..<8 { group.addTask { for _ in 0..<100 { keys.missedKey() } } }
                }
                try await fetches(round, keys, scene)
                #expect(provider.requests.count == round)
                scene.pass(.milliseconds(29_900))
                for _ in 0..<100 { keys.missedKey() }
                scene.pass(.milliseconds(100))
            }
            #expect(keys.counts == KeyURL.Counts(changed: 1, unchanged: 3))
            #expect(scene.reports() == [])
            await keys.stop()
        }
    }

    /// While a fetch is in flight nobody waits, and no other begins.
    @Test func oneFetchIsInFlight() async throws {
        try await KeyProvider.run(KeyProvider.keys(Self.one)) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            provider.behave(.hang)
            keys.missedKey()
            try await eventually("the request") { provider.requests.count == 2 ? true : nil }
            scene.pass(.seconds(100_000))
            for _ in 0..<100 { keys.missedKey() }
            #expect(ids(keys) == ["one"])
            #expect(scene.waitingCount == 0)
            provider.behave(KeyProvider.keys(Self.two))
            try await fetches(2, keys, scene)
            #expect(ids(keys) == ["two"])
            #expect(provider.requests.count == 2)
            await keys.stop()
        }
    }

    @Test func withdrawnKeysGoAway() async throws {
        let lasting: HTTPHeaders = ["cache-control": "max-age=600"]
        try await KeyProvider.run(KeyProvider.keys(Self.one, Self.two, headers: lasting)) {
            provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            provider.behave(KeyProvider.keys(Self.two))
            scene.pass(.milliseconds(599_900))
            #expect(scene.waitingCount == 1)
            #expect(ids(keys) == ["one", "two"])
            scene.pass(.milliseconds(100))
            try await fetches(2, keys, scene)
            #expect(ids(keys) == ["two"])
            #expect(provider.requests.count == 2)
            // This answer says nothing.
            scene.pass(.milliseconds(899_900))
            scene.pass(.milliseconds(100))
            try await fetches(3, keys, scene)
            #expect(keys.counts == KeyURL.Counts(changed: 2, unchanged: 1))
            // The last one, too.
            provider.behave(KeyProvider.text(#"{"keys":[]}"#))
            scene.pass(.seconds(900))
            try await fetches(4, keys, scene)
            #expect(ids(keys) == [])
            await keys.stop()
        }
    }

    @Test func aFailureKeepsTheKeysAndIsReportedOnce() async throws {
        try await KeyProvider.run(KeyProvider.keys(Self.one)) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            var count = 1
            for (behaviour, expected) in [
                (KeyProvider.text("", status: 500), "HTTP status 500"),
                (KeyProvider.text("<html>"), "neither a JWK Set"),
                (KeyProvider.text(#"{"keys":[{"kty":"oct"}]}"#), "None of the keys can be used"),
                (KeyProvider.text("", status: 404), "HTTP status 404"),
            ] {
                provider.behave(behaviour)
                for isNews in [true, false] {
                    scene.pass(.seconds(900))
                    count += 1
                    try await fetches(count, keys, scene)
                    #expect(ids(keys) == ["one"])
                    let reports = scene.reports()
                    #expect(reports.count == (isNews ? 1 : 0))
                    #expect(
                        reports.allSatisfy { $0.hasPrefix("kept: ") && $0.contains(expected) },
                        "\(reports)")
                }
            }
            provider.behave(KeyProvider.keys(Self.one))
            scene.pass(.seconds(300))
            try await fetches(count + 1, keys, scene)
            #expect(scene.reports() == [#"loaded ["one"]"#], "it is good again")
            #expect(keys.counts == KeyURL.Counts(changed: 2, failed: 8))
            await keys.stop()
        }
    }

    /// A server that is down, or says that it is in trouble, is asked again.
    @Test(arguments: [500, 502, 503, 504, 429, 408])
    func keysMayComeLater(status: Int) async throws {
        try await KeyProvider.run(KeyProvider.text("", status: status)) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            #expect(keys.keysAtHand.isEmpty)
            #expect(
                scene.reports() == [
                    "missing: Could not fetch the keys from \(url): it answered with HTTP status \(status)."
                ])
            scene.pass(.seconds(1))
            try await fetches(2, keys, scene)
            provider.behave(KeyProvider.keys(Self.one))
            scene.pass(.milliseconds(1_900))
            #expect(provider.requests.count == 2)
            scene.pass(.milliseconds(100))
            try await fetches(3, keys, scene)
            #expect(ids(keys) == ["one"])
            #expect(scene.reports() == [#"loaded ["one"]"#])
            await keys.stop()
        }
    }

    @Test func aServerThatIsNotThereMayComeLater() async throws {
        try await KeyProvider.run(.hang) { _, url, loop in
            let scene = Scene()
            let keys = try await scene.start(
                "http://127.0.0.1:1/jwks.json", on: loop)
            #expect(keys.keysAtHand.isEmpty)
            let report = try #require(scene.reports().first)
            #expect(
                report.contains("http://127.0.0.1:1/jwks.json. Could not send GET"), "\(report)")
            await keys.stop()
        }
    }

    @Test func aServerThatHangsIsNotWaitedForLong() async throws {
        try await KeyProvider.run(.hang) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop, timeout: .milliseconds(200))
            #expect(keys.keysAtHand.isEmpty && keys.counts == KeyURL.Counts(failed: 1))
            #expect(scene.reports().first?.contains("no whole answer within 0.2 seconds") == true)
            await keys.stop()
        }
    }

    private func wrong() -> [(KeyProvider.Behaviour, String)] {
        let large = #"{"keys":[]}"# + String(repeating: " ", count: KeySet.byteLimit)
        let secret = String(repeating: "A", count: 43)
        return [
            (KeyProvider.text("", status: 404), "HTTP status 404"),
            (KeyProvider.text("", status: 204), "HTTP status 204"),
            (
                KeyProvider.text("", status: 302, headers: ["location": "/jwks2.json"]),
                #"HTTP status 302, which leads to "/jwks2.json", and redirections are not followed"#
            ),
            (KeyProvider.text("", status: 301), "leads to nowhere"),
            (KeyProvider.text(large), "larger than 1048576 bytes"),
            (KeyProvider.text("<html></html>"), "neither a JWK Set"),
            (KeyProvider.text("{"), "The keys are not a JWK Set"),
            (KeyProvider.text(""), "neither a JWK Set"),
            (KeyProvider.text("{}", headers: ["content-encoding": "br"]), #"encoded as "br""#),
            (
                KeyProvider.text(#"{"keys":[{"kty":"oct","k":"\#(secret)"}]}"#),
                "it is a secret, and whoever can read it here can sign with it"
            ),
        ]
    }

    @Test func whatWillStayWrongEndsTheStart() async throws {
        for (behaviour, expected) in wrong() {
            try await KeyProvider.run(behaviour) { provider, url, loop in
                let scene = Scene()
                let error = await failure { try await scene.start(url, on: loop) }
                let text = try #require(error?.description)
                #expect(text.contains(url) && text.contains(expected), "\(text)")
                #expect(provider.requests.count == 1)
                #expect(scene.reports() == [] && scene.waitingCount == 0)
            }
        }
    }

    @Test func theServerOfKeysIsVerified() async throws {
        let certificate = try TestCertificate()
        try await KeyProvider.run(KeyProvider.keys(Self.one), tls: certificate.identity) {
            provider, url, loop in
            let scene = Scene()
            let trusting = try await scene.start(
                url, on: loop, authorityFile: certificate.certificateFile)
            #expect(ids(trusting) == ["one"])
            await trusting.stop()
            let keys = try await scene.start(url, on: loop)
            #expect(keys.keysAtHand.isEmpty)
            #expect(scene.reports().first?.contains("certificate must name its host") == true)
            #expect(provider.requests.count == 1)
            await keys.stop()
        }
    }

    @Test func aStopGivesUpTheFetchInFlight() async throws {
        try await KeyProvider.run(KeyProvider.keys(Self.one)) { provider, url, loop in
            let scene = Scene()
            let keys = try await scene.start(url, on: loop)
            provider.behave(.hang)
            keys.missedKey()
            try await eventually("the request") { provider.requests.count == 2 ? true : nil }
            await keys.stop()
            await keys.stop()
            #expect(keys.counts == KeyURL.Counts(changed: 1), "what was given up has not failed")
            scene.pass(.seconds(100_000))
            keys.missedKey()
            await keys.stop()
            #expect(ids(keys) == ["one"] && scene.reports() == [] && scene.waitingCount == 0)
            #expect(provider.requests.count == 2)
        }
    }

    @Test func aStartCanBeCancelled() async throws {
        try await KeyProvider.run(.hang) { provider, url, loop in
            let scene = Scene()
            let start = Task { try await scene.start(url, on: loop) }
            try await eventually("the request") { provider.requests.isEmpty ? nil : true }
            start.cancel()
            let error = await failure { try await start.value }
            #expect(error?.isLasting == true)
            #expect(scene.waitingCount == 0)
        }
    }

    @Test func whoIsGoneIsNotWaitedFor() async throws {
        try await KeyProvider.run(KeyProvider.keys(Self.one)) { provider, url, loop in
            let scene = Scene()
            _ = try await scene.start(url, on: loop)
            scene.pass(.seconds(100_000))
            #expect(scene.waitingCount == 0 && provider.requests.count == 1)
        }
    }
}
