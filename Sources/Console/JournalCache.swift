import Disk
import EventLog
import PostgreSQL
package import SharedJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Verified copies of journals on this machine, for commands that read a log.
///
///     $XDG_CACHE_HOME/relay/journals/<store id>/       a log, as in any directory
///     $XDG_CACHE_HOME/relay/journals/<store id>.lock   locked while the copy is written
///
/// (`~/.cache` where the variable is not set.) A copy has what its journal had when a command last used it, and may be
/// removed at any time.
package struct JournalCache: Sendable {
    private let directory: String

    /// How long a command waits for another one that writes the same copy.
    private static let patience = Duration.seconds(600)

    /// - Throws: if nobody says where the cache is.
    package init() throws {
        let named = environmentValue("XDG_CACHE_HOME").flatMap { $0.isEmpty ? nil : $0 }
        let home = environmentValue("HOME").flatMap { $0.isEmpty ? nil : $0 }
        guard let base = named ?? home.map({ $0 + "/.cache" }) else {
            throw CommandFailure(
                "There is no place for a copy of the journal: neither XDG_CACHE_HOME nor HOME is set."
            )
        }
        directory = base + "/relay/journals"
    }

    /// Brings the copy of a journal up to date, and gives its directory.
    ///
    /// Every byte that is there is checked first. What does not check, or is of another history, is thrown away and
    /// fetched again.
    /// - Parameter isChecked: this process has done so already.
    package func update(
        _ address: JournalAddress, isChecked: Bool = false
    ) throws -> String {
        let abandonment = try Abandonment()
        let connection = try JournalConnection(address, abandonment: abandonment)
        let history = try connection.completeHistory()
        let path = directory + "/\(history.storeID)"
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("Could not make \(directory) for a copy of the journal: \(error)")
        }
        let lock = try takeLock(path, abandonment)
        defer { lock.close() }
        do throws(SharedJournalError) {
            try bring(path, upTo: address, history, connection, isChecked: isChecked)
        } catch {
            guard error.isOfTheCopy else { throw error }
            complain("The copy in \(path) is thrown away and fetched again. \(error)")
            do {
                try FileManager.default.removeItem(atPath: path)
            } catch {
                throw CommandFailure("Could not remove \(path): \(error)")
            }
            try bring(path, upTo: address, history, connection, isChecked: true)
        }
        return path
    }

    private func bring(
        _ path: String, upTo address: JournalAddress, _ history: JournalHistory,
        _ connection: JournalConnection, isChecked: Bool
    ) throws(SharedJournalError) {
        defer { ProgressBar.clear() }
        let copy = JournalCopy(path)
        if !isChecked, FileManager.default.fileExists(atPath: path + "/META") {
            let progress = ProgressBar("Checking the copy of \(address)")
            try copy.check { progress.show($0, of: $1) }
        }
        let progress = ProgressBar("Fetching \(address)")
        try copy.update(from: connection, history) { progress.show($0, of: $1) }
    }

    private func takeLock(_ path: String, _ abandonment: Abandonment) throws -> any File {
        let deadline = ContinuousClock.now + Self.patience
        var hasTold = false
        while true {
            let file = try POSIXFileSystem().open(path + ".lock", .create)
            if try file.tryLock(.exclusive) { return file }
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(
                    "Another relay has been writing the copy in \(path) for \(Self.patience).")
            }
            if !hasTold { complain("Waiting for another relay, which is writing \(path).") }
            hasTold = true
            _ = abandonment.sleep(for: .milliseconds(50))
        }
    }
}

/// Keeps the copy of a journal up to date for a command that follows it.
package struct JournalFollower {
    private let address: JournalAddress
    private let connection: JournalConnection
    private let history: JournalHistory
    private let cache: JournalCache
    private var last: UInt64
    private var nextLook = ContinuousClock.now

    private static let interval = Duration.milliseconds(200)

    /// - Parameter last: the last event of the copy.
    package init(_ address: JournalAddress, from last: UInt64) throws {
        self.address = address
        self.last = last
        connection = try JournalConnection(address, abandonment: Abandonment())
        history = try connection.completeHistory()
        cache = try JournalCache()
    }

    /// Fetches what is new, if it is time to look again.
    package mutating func look() throws {
        guard ContinuousClock.now >= nextLook else { return }
        nextLook = .now + Self.interval
        let head = try connection.head(of: history).sequence
        guard head != last else { return }
        _ = try cache.update(address, isChecked: true)
        last = head
    }
}

extension SharedJournalError {
    /// Whether another copy helps: this one cannot be read, or is of another history.
    fileprivate var isOfTheCopy: Bool {
        switch code {
        case .diverged, .copy(.damaged), .copy(.conflict), .copy(.futureVersion),
            .copy(.outOfRange), .copy(.notFound):
            true
        default: false
        }
    }
}
