import HTTPMessages
import Testing

@testable import RelayServer

@Suite struct KeyFetchScheduleTests {
    private func check(_ claim: Bool, _ place: SourceLocation = #_sourceLocation) {
        #expect(claim, sourceLocation: place)
    }

    private func fetched(_ lifetime: Duration? = nil, at now: Duration = .zero) -> KeyFetchSchedule
    {
        var schedule = KeyFetchSchedule(at: now)
        check(schedule.beginIfDue(at: now))
        schedule.succeeded(lifetime, at: now)
        return schedule
    }

    @Test func oneFetchIsInFlight() {
        var schedule = KeyFetchSchedule(at: .zero)
        check(schedule.beginIfDue(at: .zero))
        check(!schedule.beginIfDue(at: .seconds(9)))
        check(!schedule.beginForMissedKey(at: .seconds(9)))
        schedule.succeeded(nil, at: .seconds(9))
        // The one that came too late has not used up its interval.
        check(schedule.beginForMissedKey(at: .seconds(9)))
        check(!schedule.beginIfDue(at: .seconds(90_000)))
    }

    @Test(arguments: [
        (nil, 900), (0, 300), (60, 300), (300, 300), (4_000, 4_000), (86_400, 86_400),
        (1 << 31, 86_400),
    ])
    func keysAreFetchedAgainWhenTheirTimeIsOver(lifetime: Int?, expected: Int) {
        var schedule = fetched(lifetime.map { .seconds($0) }, at: .seconds(1_000))
        let due: Duration = .seconds(1_000 + expected)
        check(!schedule.beginIfDue(at: due - .nanoseconds(1)))
        check(schedule.beginIfDue(at: due))
    }

    @Test func missedKeysCauseOneFetchInAnInterval() {
        var schedule = fetched()
        var begun: [Int] = []
        for second in 0..<200 {
            for _ in 0..<3 where schedule.beginForMissedKey(at: .seconds(second)) {
                begun.append(second)
                if second < 100 {
                    schedule.succeeded(nil, at: .seconds(second))
                } else {
                    schedule.failed(hasKeys: true, at: .seconds(second))
                }
            }
        }
        #expect(begun == [0, 30, 60, 90, 120, 150, 180])
    }

    @Test func afterAFailureItIsTriedAgainSoon() {
        var schedule = fetched(.seconds(80_000))
        check(schedule.beginForMissedKey(at: .seconds(10)))
        schedule.failed(hasKeys: true, at: .seconds(10))
        check(!schedule.beginIfDue(at: .seconds(309)))
        check(schedule.beginIfDue(at: .seconds(310)))
    }

    @Test func withoutKeysTriesBecomeRarer() {
        var schedule = KeyFetchSchedule(at: .zero)
        var begun: [Int] = []
        for second in 0..<130 where schedule.beginIfDue(at: .seconds(second)) {
            begun.append(second)
            schedule.failed(hasKeys: false, at: .seconds(second))
        }
        #expect(begun == [0, 1, 3, 7, 15, 31, 61, 91, 121])
    }

    @Test func waitsAreBounded() {
        let schedule = fetched(.seconds(400))
        #expect(schedule.wait(at: .zero) == .seconds(60))
        #expect(schedule.wait(at: .seconds(399)) == .seconds(1))
        #expect(schedule.wait(at: .seconds(500)) == .zero)
    }

    @Test(
        arguments: [
            ([:], nil), (["cache-control": "public"], nil), (["cache-control": "max-age=60"], 60),
            (["cache-control": "public, MAX-AGE=60, must-revalidate"], 60),
            (["cache-control": #"max-age="60""#], 60),
            (["cache-control": "no-cache, max-age=60"], 0),
            (["cache-control": "no-store"], 0), (["cache-control": "max-age=60", "age": "20"], 40),
            (["cache-control": "max-age=60", "age": "90"], 0),
            (["cache-control": "max-age=99999999999999999999"], 1 << 31),
            (["cache-control": "max-age=-1"], nil), (["cache-control": "max-age=1.5"], nil),
            (["cache-control": "max-age="], nil), (["cache-control": "max-age"], nil),
            (["cache-control": "s-maxage=60"], nil), (["cache-control": "max-age=x, max-age=7"], 7),
            (["cache-control": "public", "Cache-Control": "max-age=8"], 8),
        ] as [([String: String], Int?)])
    func theAnswerSaysHowLongKeysAreGood(fields: [String: String], seconds: Int?) {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.append(name, value) }
        let response = HTTPResponse(status: 200, headers: headers)
        #expect(response.freshness == seconds.map { .seconds($0) })
    }

    @Test(arguments: [
        "https://example.com/jwks.json", "HTTPS://example.com", "https://example.com:8443/a?b=c@d",
        "http://localhost:1/", "http://LocalHost/", "http://127.9.8.7:80/x", "http://[::1]:3000/x",
    ])
    func keysMayComeFrom(url: String) throws {
        #expect(try KeyAddress(url).url == url)
    }

    @Test(arguments: [
        ("http://example.com/jwks.json", "replaced on the way"),
        ("http://localhost.example.com/", "replaced on the way"),
        ("http://127.0.0.1.example.com/", "replaced on the way"),
        ("http://0.0.0.0/", "replaced on the way"), ("http://10.0.0.1/", "replaced on the way"),
        ("https://user:hidden@example.com/", "https://HOST"),
        ("https://hidden@example.com/", "password"), ("http://localhost@hidden/", "password"),
        ("ftp://example.com/", "https://HOST"), ("wss://example.com/", "https://HOST"),
        ("file:///etc/hidden", "https://HOST"), ("https://", "https://HOST"),
        ("https://example.com:0/", "https://HOST"), ("https://example.com/a b", "https://HOST"),
        ("https://example.com/\u{e9}", "https://HOST"), ("", "https://HOST"),
        ("https://example.com/\r\nx: y", "https://HOST"),
    ])
    func keysMayNotComeFrom(url: String, expected: String) {
        let error = #expect(throws: KeyAddressError.self) { _ = try KeyAddress(url) }
        #expect(error?.description.contains(expected) == true)
        #expect(error?.description.contains("hidden") == false)
    }
}
