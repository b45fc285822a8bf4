import RelayJSON
import Testing
import Threads

@testable import JSONWebTokens

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct KeyFileTests {
    /// A directory of its own, a clock, and what was reported.
    private final class Scene: Sendable {
        let directory: String
        let path: String
        private let clock: Lock<Int64>
        private let log = Lock<[String]>([])

        init() throws {
            var template = Array("/tmp/relay-keys-XXXXXX".utf8CString)
            let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) != nil }
            try #require(made)
            directory = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
            path = directory + "/keys"
            // Ahead of the files' times, so that what was read once need not be read again.
            clock = Lock(Int64(time(nil) + 60) * 1_000_000)
        }

        deinit {
            for name in ["keys", "new", "target", "pipe"] { unlink(directory + "/" + name) }
            rmdir(directory)
        }

        func file() throws -> KeyFile {
            try KeyFile(path: path, now: { self.clock.withLock { $0 } }) { report in
                let line =
                    switch report {
                    case .loaded(let keys):
                        "loaded \(keys.keys.map { $0.id ?? "-" }) skipped \(keys.skipped.count)"
                    case .kept(let error): "kept: \(error)"
                    case .missing(let error): "missing: \(error)"
                    }
                self.log.withLock { $0.append(line) }
            }
        }

        func pass(_ microseconds: Int64) { clock.withLock { $0 += microseconds } }

        /// What was reported since the last time.
        func reports() -> [String] {
            log.withLock { log in
                defer { log = [] }
                return log
            }
        }

        func write(_ text: String, to name: String = "keys") throws {
            let file = try #require(fopen(directory + "/" + name, "wb"))
            let written = fputs(text, file)
            try #require(fclose(file) == 0 && written >= 0)
        }

        func write(_ signers: [Signer], to name: String = "keys") throws {
            try write(JSONValue.object(["keys": .array(signers.map(\.jwk))]).text, to: name)
        }
    }

    /// A key that was removed lets nobody in, however long nobody has come.
    @Test func aWatchedFileIsLookedAtWithoutTokens() async throws {
        let scene = try Scene()
        try scene.write([one, two])
        let file = try scene.file()
        try scene.write([two])
        scene.pass(3_600_000_000)
        #expect(file.keysAtHand.keys.map(\.id) == ["one", "two"])
        #expect(file.watch() == 0)
        let deadline = ContinuousClock.now + .seconds(60)
        while file.keysAtHand.keys.map(\.id) != ["two"], ContinuousClock.now < deadline {
            await Task.yield()
        }
        #expect(file.keysAtHand.keys.map(\.id) == ["two"])
    }

    private let one = Signer(.es256, id: "one")
    private let two = Signer(.es256, id: "two")

    private func ids(_ file: KeyFile) -> [String?] { file.keys.keys.map(\.id) }

    @Test func aChangedFileIsReadAgainAfterASecond() throws {
        let scene = try Scene()
        try scene.write([one])
        let file = try scene.file()
        #expect(ids(file) == ["one"])
        try scene.write([one, two])
        scene.pass(999_999)
        #expect(ids(file) == ["one"])
        scene.pass(1)
        #expect(ids(file) == ["one", "two"])
        #expect(scene.reports() == [#"loaded ["one", "two"] skipped 0"#])
        scene.pass(5_000_000)
        #expect(ids(file) == ["one", "two"])
        #expect(scene.reports() == [])
    }

    /// As editors and Kubernetes replace files.
    @Test func aReplacedFileAndALinkToAnotherAreNoticed() throws {
        let scene = try Scene()
        try scene.write([one])
        let file = try scene.file()
        try scene.write([two], to: "new")
        try #require(rename(scene.directory + "/new", scene.path) == 0)
        scene.pass(1_000_000)
        #expect(ids(file) == ["two"])
        try scene.write([one], to: "target")
        try #require(symlink("target", scene.directory + "/new") == 0)
        try #require(rename(scene.directory + "/new", scene.path) == 0)
        scene.pass(1_000_000)
        #expect(ids(file) == ["one"])
        try scene.write([two], to: "target")
        scene.pass(1_000_000)
        #expect(ids(file) == ["two"])
    }

    /// `cp -p` and `touch -r` set the time of the content, and nobody sets that of the change.
    @Test func aFileWithTheSameSizeAndTimeIsNoticed() throws {
        let scene = try Scene()
        try scene.write([one])
        var before = stat()
        try #require(stat(scene.path, &before) == 0)
        let file = try scene.file()
        #if canImport(Darwin)
            var times = [before.st_atimespec, before.st_mtimespec]
        #else
            var times = [before.st_atim, before.st_mtim]
        #endif
        // Times advance in steps of some milliseconds.
        let old = try FileStamp(path: scene.path)
        let deadline = time(nil) + 10
        repeat {
            try scene.write([two])
            try #require(utimensat(AT_FDCWD, scene.path, &times, 0) == 0)
        } while try FileStamp(path: scene.path) == old && time(nil) < deadline
        scene.pass(1_000_000)
        #expect(ids(file) == ["two"])
        #expect(scene.reports() == [#"loaded ["two"] skipped 0"#])
    }

    /// Within a step of the clock, a second change leaves no trace but the content.
    @Test func aFileThatChangedJustNowIsReadOnceMore() throws {
        let scene = try Scene()
        scene.pass(-60_000_000)
        try scene.write([one])
        let stamp = try FileStamp(path: scene.path)
        let written = Int64(time(nil)) * 1_000_000
        #expect(stamp.settled(at: written) == nil)
        #expect(stamp.settled(at: written + 1_900_000) == nil)
        #expect(stamp.settled(at: written + 60_000_000) == stamp)
        let file = try scene.file()
        for _ in 0..<3 {
            scene.pass(1_000_000)
            #expect(ids(file) == ["one"])
            #expect(scene.reports() == [], "it may have been read again, and nothing is new")
        }
    }

    @Test func aBrokenFileKeepsTheOldKeysAndSaysWhyOnce() throws {
        let scene = try Scene()
        try scene.write([one])
        let file = try scene.file()
        for (text, reason) in [
            ("{", "The keys are not a JWK Set. Invalid JSON at byte 1: the text ends too early."),
            (
                "",
                "The keys are neither a JWK Set (RFC 7517: {\"keys\": […]}) nor PEM (-----BEGIN PUBLIC KEY-----)."
            ),
            (
                #"{"keys":[{"kty":"oct","k":"AQAB"}]}"#,
                "None of the keys can be used. Key 1 is not used: the secret has 3 bytes, and 32 is the least."
            ),
        ] {
            try scene.write(text)
            scene.pass(1_000_000)
            #expect(ids(file) == ["one"])
            #expect(
                scene.reports() == ["kept: Could not use the keys in \(scene.path): \(reason)"])
            scene.pass(1_000_000)
            #expect(ids(file) == ["one"])
            #expect(scene.reports() == [])
        }
        unlink(scene.path)
        for expected in [
            ["kept: Could not read the keys in \(scene.path): stat: No such file or directory."],
            [],
        ] {
            scene.pass(1_000_000)
            #expect(ids(file) == ["one"])
            #expect(scene.reports() == expected)
        }
        try scene.write([one])
        scene.pass(1_000_000)
        #expect(ids(file) == ["one"])
        #expect(scene.reports() == [#"loaded ["one"] skipped 0"#], "it is good again")
        unlink(scene.path)
        scene.pass(1_000_000)
        #expect(ids(file) == ["one"])
        #expect(scene.reports().count == 1, "and gone again")
        try scene.write([two])
        scene.pass(1_000_000)
        #expect(ids(file) == ["two"])
    }

    /// Whoever empties the set means it.
    @Test func anEmptySetSaysThatThereAreNoKeys() throws {
        let scene = try Scene()
        try scene.write([one])
        let file = try scene.file()
        try scene.write([Signer]())
        scene.pass(1_000_000)
        #expect(ids(file) == [])
        #expect(scene.reports() == ["loaded [] skipped 0"])
        try scene.write("")
        scene.pass(1_000_000)
        #expect(ids(file) == [])
        #expect(scene.reports().map { $0.hasPrefix("missing: Could not use") } == [true])
        try scene.write([two])
        scene.pass(1_000_000)
        #expect(ids(file) == ["two"])
    }

    @Test func aClockThatIsSetBackDoesNotStopIt() throws {
        let scene = try Scene()
        try scene.write([one])
        let file = try scene.file()
        try scene.write([two])
        scene.pass(-3_600_000_000)
        #expect(ids(file) == ["two"])
    }

    /// All keys were withdrawn, and the server is started again.
    @Test func aSetOfNoKeysIsOneToBeginWith() throws {
        let scene = try Scene()
        try scene.write(#"{"keys": []}"#)
        let file = try scene.file()
        #expect(ids(file) == [])
        try scene.write([two])
        scene.pass(1_000_000)
        #expect(ids(file) == ["two"])
    }

    @Test func withoutKeysThereIsNoFile() throws {
        let scene = try Scene()
        func reason(_ path: String) -> KeyFileError.Reason? {
            do throws(KeyFileError) {
                _ = try KeyFile(path: path, now: { 0 }, report: { _ in })
                return nil
            } catch { return error.reason }
        }
        guard case .system("open", ENOENT, _)? = reason(scene.path) else {
            Issue.record("there is no file")
            return
        }
        try scene.write("x")
        #expect(reason(scene.path) == .unusable(.unknownForm))
        #expect(reason(scene.directory) == .notAFile)
        let pipe = scene.directory + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        #expect(reason(pipe) == .notAFile)
    }

    @Test func aVerifierUsesTheKeysOfTheMoment() throws {
        let scene = try Scene()
        try scene.write([one])
        let file = try scene.file()
        let verifier = TokenVerifier(keys: { file.keys }, now: { now * 1_000_000 })
        let token = two.token(good())
        #expect(verifier.refusal(token) == .unknownKey(id: "two"))
        try scene.write([two])
        scene.pass(1_000_000)
        #expect(verifier.refusal(token) == nil)
        #expect(verifier.refusal(one.token(good())) == .unknownKey(id: "one"))
    }

    /// Many threads ask while the file changes; each sees whole sets.
    @Test(.timeLimit(.minutes(1))) func manyThreadsMayAsk() throws {
        let scene = try Scene()
        try scene.write([one])
        let file = try scene.file()
        let threads = (0..<4).map { _ in
            BlockingThread {
                for _ in 0..<500 {
                    scene.pass(100_000)
                    let ids = file.keys.keys.map(\.id)
                    precondition(ids == ["one"] || ids == ["two"])
                }
            }
        }
        for round in 0..<20 {
            try scene.write([round % 2 == 0 ? two : one], to: "new")
            try #require(rename(scene.directory + "/new", scene.path) == 0)
        }
        for thread in threads { thread.join() }
        scene.pass(1_000_000)
        #expect(ids(file) == ["one"])
    }
}
