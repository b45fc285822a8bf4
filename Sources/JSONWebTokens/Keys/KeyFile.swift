import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The keys in a file, read again when it has changed.
///
/// Removing the file revokes nothing (``KeptKeys``); remove a key from it for that. `{"keys": []}` revokes the last one.
package final class KeyFile: Sendable {
    package typealias Report = KeptKeys<KeyFileError>.Report

    private struct State {
        var kept: KeptKeys<KeyFileError>
        /// The file as it was read last; nil: to be read again.
        var stamp: FileStamp?
        var askedAt: Int64
        var isReading = false

        /// Whether to look at the file now; then nobody else does.
        mutating func isDue(at time: Int64) -> Bool {
            // A clock that was set back must not stop this.
            guard !isReading, !(0..<KeyFile.interval).contains(time &- askedAt) else {
                return false
            }
            askedAt = time
            isReading = true
            return true
        }
    }

    /// How often the file is looked at, at most, in microseconds.
    package static let interval: Int64 = 1_000_000

    private let path: String
    private let now: @Sendable () -> Int64
    private let report: @Sendable (Report) -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - now: microseconds since 1970-01-01 00:00 UTC; compared with the times of the file.
    ///   - report: called by whoever asked for ``keys``; not for the first reading.
    /// - Throws: if the file does not say what the keys are; a set of none does.
    package init(
        path: String, now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (Report) -> Void
    ) throws(KeyFileError) {
        self.path = path
        self.now = now
        self.report = report
        let time = now()
        let file = try KeyFileContent(path: path)
        var kept = KeptKeys<KeyFileError>()
        _ = kept.replace(with: try Self.parse(file), from: file.bytes)
        state = Lock(State(kept: kept, stamp: file.stamp.settled(at: time), askedAt: time))
    }

    /// The keys as of now. At most once a second this looks at the file, which is a system call; if the file has
    /// changed, it is read.
    package var keys: KeySet {
        let time = now()
        let (keys, isDue) = state.withLock { ($0.kept.keys, $0.isDue(at: time)) }
        // Outside the lock: others go on with the keys that there are.
        return isDue ? refresh(at: time) : keys
    }

    /// The keys as they were when the file was looked at last, for threads that must not wait for a disk: after
    /// ``watch()``, about a second ago.
    package var keysAtHand: KeySet { state.withLock { $0.kept.keys } }

    /// Looks at the file once a second, whether or not anybody asks, for as long as this exists. A key that was removed
    /// must not let anybody in who comes after a quiet hour.
    ///
    /// It has a thread of its own, because a network file system may never answer.
    /// - Returns: why there is no such thread, as an `errno`; 0 if there is.
    package func watch() -> Int32 {
        startThread { [weak self] in
            while self?.look() != nil { Self.pause() }
        }
    }

    private func look() { _ = keys }

    private static func pause() {
        // A signal may end it early, which only means one look more.
        var time = timespec(tv_sec: Int(interval / 1_000_000), tv_nsec: 0)
        nanosleep(&time, nil)
    }

    private func refresh(at time: Int64) -> KeySet {
        let (kept, stamp) = state.withLock { ($0.kept, $0.stamp) }
        defer { state.withLock { $0.isReading = false } }
        var newStamp: FileStamp?
        do throws(KeyFileError) {
            if try FileStamp(path: path) == stamp { return kept.keys }
            let file = try KeyFileContent(path: path)
            newStamp = file.stamp.settled(at: time)
            let keys =
                kept.areFrom(file.bytes) ? nil : try Self.parse(file)
            let stamp = newStamp
            let news = state.withLock { state in
                state.stamp = stamp
                return keys.map { state.kept.replace(with: $0, from: file.bytes) }
            }
            if let news { report(news) }
            return keys ?? kept.keys
        } catch {
            let stamp = newStamp
            let news = state.withLock { state in
                state.stamp = stamp
                return state.kept.keep(because: error)
            }
            if let news { report(news) }
            return kept.keys
        }
    }

    private static func parse(_ file: KeyFileContent) throws(KeyFileError) -> KeySet {
        do { return try KeySet(parsing: file.bytes, mayBeEmpty: true) } catch {
            throw KeyFileError(path: file.path, reason: .unusable(error))
        }
    }
}

/// Why a file gives no keys.
package struct KeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// A system call and its `errno`.
        case system(call: String, errno: Int32, text: String)
        /// A directory, a pipe, a device.
        case notAFile
        case unusable(KeySetError)
    }

    package let path: String
    package let reason: Reason

    package var description: String {
        switch reason {
        case .system(let call, _, let text): "Could not read the keys in \(path): \(call): \(text)."
        case .notAFile: "Could not read the keys in \(path): it is not a file."
        case .unusable(let error): "Could not use the keys in \(path): \(error)"
        }
    }
}
