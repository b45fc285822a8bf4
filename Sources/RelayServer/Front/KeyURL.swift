import HTTPMessages
import JSONWebTokens
import Threads
import WebSocketIO

/// The keys at a URL, fetched again when their time is over (``KeyFetchSchedule``), and when a token names one that is not
/// among them.
///
/// A network loop carries the fetches, and waits for none. A token that names an unknown key is refused; when its client
/// comes again, the new keys are there.
final class KeyURL: KeySource {
    typealias Report = KeptKeys<KeyURLError>.Report

    /// What fetches have led to.
    struct Counts: Sendable, Equatable {
        var changed = 0
        var unchanged = 0
        var failed = 0
    }

    private struct State {
        var kept = KeptKeys<KeyURLError>()
        var schedule: KeyFetchSchedule
        var fetch: Task<Void, Never>?
        /// Whether a look at the schedule is waiting; there is never more than one.
        var isWaiting = false
        var isStopped = false
        var counts = Counts()
    }

    /// From the first packet of a fetch to its last.
    static let timeout: Duration = .seconds(10)

    private let address: KeyAddress
    private let http: HTTPClient.Options
    private let loop: IOLoop
    private let now: @Sendable () -> Duration
    private let later: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let report: @Sendable (Report) -> Void
    private let state: Lock<State>

    /// Fetches keys for the first time.
    ///
    /// - Parameters:
    ///   - authorityFile: certificates in PEM to check the server against; nil means the system's.
    ///   - loop: carries the fetches.
    ///   - now: since some point in time; a clock that only advances.
    ///   - later: does something after a while, never at once.
    ///   - report: called on any thread; not for keys that come at once.
    /// - Throws: what is wrong and will stay so. A server that gives no answer, or is in trouble, is asked again and
    ///   again; until then there are no keys.
    static func start(
        at address: KeyAddress, authorityFile: String? = nil, timeout: Duration = timeout,
        on loop: IOLoop, now: @escaping @Sendable () -> Duration,
        later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void,
        report: @escaping @Sendable (Report) -> Void
    ) async throws(KeyURLError) -> KeyURL {
        var http = HTTPClient.Options(authorityFile: authorityFile)
        http.timeout = timeout
        http.maxBodyBytes = KeySet.byteLimit
        let keys = KeyURL(address, http, on: loop, now: now, later: later, report: report)
        let outcome = await keys.fetch()
        if case .missing(let failure) = outcome {
            if failure.isLasting { throw failure }
            report(.missing(failure))
        }
        keys.lookLater()
        return keys
    }

    private init(
        _ address: KeyAddress, _ http: HTTPClient.Options, on loop: IOLoop,
        now: @escaping @Sendable () -> Duration,
        later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.address = address
        self.http = http
        self.loop = loop
        self.now = now
        self.later = later
        self.report = report
        var schedule = KeyFetchSchedule(at: now())
        _ = schedule.beginIfDue(at: now())
        state = Lock(State(schedule: schedule))
    }

    var keysAtHand: KeySet { state.withLock { $0.kept.keys } }

    var counts: Counts { state.withLock { $0.counts } }

    func missedKey() { begin { $0.beginForMissedKey(at: $1) } }

    /// Gives up the fetch in flight, and begins no other. The keys stay.
    func stop() async {
        let fetch = state.withLock { state in
            state.isStopped = true
            return state.fetch
        }
        fetch?.cancel()
        await fetch?.value
    }

    // MARK: When

    /// One look at the schedule waits; what it begins is waited for by nobody.
    private func lookLater() {
        let time = now()
        let wait = state.withLock { state -> Duration? in
            if state.isWaiting || state.isStopped { return nil }
            state.isWaiting = true
            return state.schedule.wait(at: time)
        }
        guard let wait else { return }
        later(wait) { [weak self] in self?.look() }
    }

    private func look() {
        state.withLock { $0.isWaiting = false }
        begin { $0.beginIfDue(at: $1) }
        // The end of a fetch leads here again.
        if !state.withLock({ $0.schedule.isFetching }) { lookLater() }
    }

    private func begin(_ isToBegin: (inout KeyFetchSchedule, Duration) -> Bool) {
        let time = now()
        state.withLock { state in
            guard !state.isStopped, isToBegin(&state.schedule, time) else { return }
            // Parsing keys takes too long for a network loop.
            state.fetch = Task.detached { [self] in
                if let news = await fetch() { report(news) }
                lookLater()
            }
        }
    }

    // MARK: One fetch

    /// - Returns: what is new.
    private func fetch() async -> Report? {
        let kept = state.withLock { $0.kept }
        do throws(KeyURLError) {
            let answer = try await ask()
            let isSame = kept.areFrom(answer.body)
            let keys = isSame ? kept.keys : try parse(answer.body, mayBeEmpty: kept.haveBeenRead)
            return end { state, time in
                state.schedule.succeeded(answer.freshness, at: time)
                if isSame {
                    state.counts.unchanged += 1
                    return nil
                }
                state.counts.changed += 1
                return state.kept.replace(with: keys, from: answer.body)
            }
        } catch {
            return end { state, time in
                state.counts.failed += 1
                state.schedule.failed(hasKeys: !state.kept.keys.isEmpty, at: time)
                return state.kept.keep(because: error)
            }
        }
    }

    private func end(_ change: (inout State, Duration) -> Report?) -> Report? {
        let time = now()
        return state.withLock { state in
            state.fetch = nil
            // What was given up has not failed.
            return state.isStopped ? nil : change(&state, time)
        }
    }

    private func ask() async throws(KeyURLError) -> HTTPResponse {
        let headers: HTTPHeaders = [
            "accept": "application/jwk-set+json, application/json", "accept-encoding": "identity",
            "user-agent": "relay",
        ]
        let answer: HTTPResponse
        do {
            answer = try await HTTPClient.send(
                to: address.server, headers: headers, http, on: loop)
        } catch let error as IOError {
            throw failure(.noAnswer(error))
        } catch {
            // The client throws nothing else.
            throw failure(
                .noAnswer(IOError(code: .connectionLost, message: "The fetch failed: \(error)")))
        }
        if (300...399).contains(answer.status) {
            throw failure(
                .redirection(status: answer.status, to: answer.headers["location"]))
        }
        guard answer.status == 200 else { throw failure(.status(answer.status)) }
        if let encoding = answer.headers["content-encoding"], encoding.lowercased() != "identity" {
            throw failure(.encoding(encoding))
        }
        return answer
    }

    private func parse(_ body: [UInt8], mayBeEmpty: Bool) throws(KeyURLError) -> KeySet {
        do {
            return try KeySet(parsing: body, arePublic: true, mayBeEmpty: mayBeEmpty)
        } catch {
            throw failure(.unusable(error))
        }
    }

    private func failure(_ reason: KeyURLError.Reason) -> KeyURLError {
        KeyURLError(url: address.url, reason: reason)
    }
}
