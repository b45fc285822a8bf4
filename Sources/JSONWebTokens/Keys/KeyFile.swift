import Threads

/// The keys in a file, read again when it has changed.
///
/// A file that has become unusable changes nothing: the keys that were good stay, and the reason is reported, once. So
/// removing the file does not lock everybody out, and neither does it revoke anything; remove a key from it for that.
package final class KeyFile: Sendable {
    /// What happened to the file, for the log.
    package enum Report: Sendable {
        /// New keys are used, and maybe some of the file are not.
        case loaded(KeySet)
        /// The keys are as they were.
        case kept(KeyFileError)
    }

    private struct State {
        var keys: KeySet
        /// What the keys were read from.
        var bytes: [UInt8]
        /// The file as it was read last; nil: to be read again.
        var stamp: FileStamp?
        var askedAt: Int64
        var isReading = false
        var problem: KeyFileError?

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
    /// - Throws: if there are no keys to begin with.
    package init(
        path: String, now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (Report) -> Void
    ) throws(KeyFileError) {
        self.path = path
        self.now = now
        self.report = report
        let time = now()
        let file = try KeyFileContent(path: path)
        let keys = try Self.parse(file)
        state = Lock(
            State(
                keys: keys, bytes: file.bytes, stamp: file.stamp.settled(at: time), askedAt: time))
    }

    /// The keys as of now. At most once a second this looks at the file, which is a system call; if the file has
    /// changed, it is read.
    package var keys: KeySet {
        let time = now()
        let (keys, isDue) = state.withLock { ($0.keys, $0.isDue(at: time)) }
        // Outside the lock: others go on with the keys that there are.
        return isDue ? refresh(at: time) : keys
    }

    /// The keys as they were when the file was looked at last. If it is time to look again, that is done elsewhere: for
    /// threads that must not wait for a disk.
    package var keysAtHand: KeySet {
        let time = now()
        let (keys, isDue) = state.withLock { ($0.keys, $0.isDue(at: time)) }
        if isDue { Task.detached { _ = self.refresh(at: time) } }
        return keys
    }

    private func refresh(at time: Int64) -> KeySet {
        let (old, bytes, stamp, problem) = state.withLock {
            ($0.keys, $0.bytes, $0.stamp, $0.problem)
        }
        defer { state.withLock { $0.isReading = false } }
        var newStamp: FileStamp?
        do throws(KeyFileError) {
            if try FileStamp(path: path) == stamp { return old }
            let file = try KeyFileContent(path: path)
            newStamp = file.stamp.settled(at: time)
            let isSame = problem == nil && file.bytes == bytes
            let keys = isSame ? old : try Self.parse(file)
            let stamp = newStamp
            state.withLock { state in
                state.keys = keys
                state.bytes = file.bytes
                state.stamp = stamp
                state.problem = nil
            }
            if !isSame { report(.loaded(keys)) }
            return keys
        } catch {
            let stamp = newStamp
            state.withLock { state in
                state.stamp = stamp
                state.problem = error
            }
            if error != problem { report(.kept(error)) }
            return old
        }
    }

    private static func parse(_ file: KeyFileContent) throws(KeyFileError) -> KeySet {
        do { return try KeySet(parsing: file.bytes) } catch {
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
