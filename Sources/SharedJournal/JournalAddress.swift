package import PostgreSQL

/// Where a shared journal is: a PostgreSQL database, and a schema in it.
///
///     postgres://USER@HOST:PORT/DATABASE?schema=NAME&synchronous_commit=remote_apply
///
/// `schema` is `relay_journal` if it is not said: several journals may be in one database. `synchronous_commit` is
/// `on`, `remote_write` or `remote_apply` (PostgreSQL's words); never less than `on` is by itself.
package struct JournalAddress: Sendable, CustomStringConvertible {
    package static let defaultSchema = "relay_journal"

    package let database: PostgreSQLAddress
    package let schema: String
    let synchronousCommit: String

    /// The names of its own parameters.
    private static let parameters = ["schema", "synchronous_commit"]
    private static let levels = ["on", "remote_write", "remote_apply"]

    /// - Throws: `address`, `unavailable` if libpq is not there.
    package init(parsing text: String) throws(SharedJournalError) {
        do throws(PostgreSQLError) {
            database = try PostgreSQLAddress(parsing: text, taking: Set(Self.parameters))
        } catch {
            throw SharedJournalError(error)
        }
        schema = database.ownParameters["schema"] ?? Self.defaultSchema
        synchronousCommit = database.ownParameters["synchronous_commit"] ?? "on"
        guard Self.isName(schema) else {
            throw SharedJournalError(
                .address,
                "The schema of a journal is a name of at most 63 letters, digits and _, in lower case: "
                    + "\"\(schema)\" is not.")
        }
        guard Self.levels.contains(synchronousCommit) else {
            throw SharedJournalError(
                .address,
                "synchronous_commit of a journal is on, remote_write or remote_apply, not "
                    + "\"\(synchronousCommit)\": what is acknowledged has to be on the disk.")
        }
    }

    /// So that it means the same with and without quotes, and is a channel's name as well.
    private static func isName(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= 63 else { return false }
        return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
            && bytes.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Without a password.
    package var description: String {
        database.description + (schema == Self.defaultSchema ? "" : "?schema=\(schema)")
    }
}
