package import ArgumentParser
import EventLog
import EventStore
import PostgreSQL
package import SharedJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A command on a log's directory.
///
/// Its output is handed over whatever happens, a reader that leaves and Ctrl-C end it quietly, and damage
/// of the log that it meets is told by exit code 2.
package protocol LogTool: AsyncParsableCommand {
    func run(printingTo output: LineOutput) async throws
}

extension LogTool {
    package func run() async throws {
        let output = LineOutput()
        Interruption.arm()
        defer { ProgressBar.clear() }
        do {
            do {
                try await run(printingTo: output)
            } catch {
                // What was found before it.
                try output.flush()
                throw error
            }
            try output.flush()
        } catch is ReaderLeft {
            return
        } catch let error as EventStoreError where error.code == .notAPoint {
            throw ValidationError(error.message)
        } catch  where isDamage(error) {
            complain("Error: \(error)")
            throw ExitCode.foundSomething
        }
    }
}

extension ExitCode {
    /// A difference or damage was found.
    package static let foundSomething = ExitCode(2)
}

/// What every command on a log takes.
package struct LogArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            The log's directory. What only reads also takes a journal in PostgreSQL: \
            postgres://USER@HOST/DATABASE. Some commands also take the URL of a running server.
            """, valueName: "dir"))
    package var directory: String

    @Flag(help: "Print JSON, one object per line.")
    package var json = false

    package init() {}
}

/// Where a command finds a log: a directory, or a journal in PostgreSQL, of which it reads a copy.
package enum LogPlace: Sendable {
    case directory(String)
    case journal(JournalAddress)

    /// - Parameter text: as it was given.
    /// - Throws: what is wrong with an address, as a mistake of the command line.
    package init(_ text: String) throws {
        guard PostgreSQLAddress.isOne(text) else {
            self = .directory(text)
            return
        }
        do throws(SharedJournalError) {
            self = .journal(try JournalAddress(parsing: text))
        } catch {
            if error.code == .address { throw ValidationError(error.message) }
            throw error
        }
    }

    /// A directory with the log as it is now.
    package func directory() throws -> String {
        switch self {
        case .directory(let path): path
        case .journal(let address): try JournalCache().update(address)
        }
    }
}

extension LogArguments {
    /// As messages name the log: an address has no password there.
    package var name: String { LogPlace.name(of: directory) }

    /// Whether it is a journal in PostgreSQL.
    package var isJournal: Bool { PostgreSQLAddress.isOne(directory) }
}

extension LogPlace {
    /// As messages name what was given.
    package static func name(of text: String) -> String {
        guard PostgreSQLAddress.isOne(text) else { return text }
        return (try? JournalAddress(parsing: text))?.description ?? "the journal"
    }
}

/// Checks that a directory is missing or empty, for a command that makes a log there.
package func checkIsNew(_ directory: String, _ reason: String) throws {
    let contents = try? FileManager.default.contentsOfDirectory(atPath: directory)
    guard contents?.isEmpty ?? true else {
        throw CommandFailure("\(directory) is not empty: \(reason). Nothing was changed.")
    }
}

/// Whether an error says that bytes of a log are not what was written.
package func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as LogError: error.code == .damaged
    case let error as EventStoreError: error.code == .log(.damaged)
    case let error as SharedJournalError:
        error.code == .damaged || error.code == .copy(.damaged)
    default: false
    }
}
