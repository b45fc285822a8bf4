import ArgumentParser
import Console
import SharedJournal

/// `relay journal`: the journal that several servers share.
struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Move a log into a shared journal in PostgreSQL and back, check it, look at it.",
        discussion: """
            A URL is postgres://USER@HOST:PORT/DATABASE, with libpq's parameters behind a question \
            mark; ?schema=NAME names another schema than relay_journal. A password is better kept \
            in PGPASSWORD or in ~/.pgpass than on the command line. See docs/cluster.md.
            """,
        subcommands: [
            JournalImportCommand.self, JournalExportCommand.self, JournalVerifyCommand.self,
            JournalStatusCommand.self,
        ])
}

/// What every command on a journal takes.
struct JournalArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The journal: postgres://USER@HOST:PORT/DATABASE.", valueName: "url"))
    var url: String

    @Flag(help: "Print JSON, one object per line.")
    var json = false

    /// - Throws: what is wrong with the URL, as a mistake of the command line.
    func address() throws -> JournalAddress {
        do throws(SharedJournalError) {
            return try JournalAddress(parsing: url)
        } catch {
            if error.code == .address { throw ValidationError(error.message) }
            throw error
        }
    }
}
