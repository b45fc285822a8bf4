/// Why something asked of PostgreSQL was not done.
///
/// `message` is one or more full sentences for people, without passwords; programs switch over `code`.
package struct PostgreSQLError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// libpq is not installed, or too old.
        case noLibrary
        /// The address is not one, or says something that is not allowed.
        case badAddress
        /// No connection was made; nothing was asked.
        case notConnected
        /// The server refused a statement and undid it. ``PostgreSQLError/sqlState`` says why.
        case refused
        /// The connection ended, or nothing was heard for too long, after the statement was on its way: whether
        /// it was carried out is not known. The connection is closed.
        case lost
        /// ``Abandonment/abandon()`` was called. Whether a statement on its way was carried out is not known.
        case abandoned
        /// The answer is not of the expected form.
        case unexpectedAnswer
    }

    package let code: Code
    package let message: String
    /// The server's five letters (PostgreSQL, appendix A), if it said why.
    package let sqlState: SQLState?

    package init(_ code: Code, _ message: String, sqlState: SQLState? = nil) {
        self.code = code
        self.message = message
        self.sqlState = sqlState
    }

    package var description: String { message }
}

/// A PostgreSQL error code: five letters and digits.
package struct SQLState: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let uniqueViolation = SQLState(rawValue: "23505")
    package static let lockNotAvailable = SQLState(rawValue: "55P03")
    package static let queryCanceled = SQLState(rawValue: "57014")
    package static let readOnlyTransaction = SQLState(rawValue: "25006")
    package static let undefinedTable = SQLState(rawValue: "42P01")
    package static let undefinedFunction = SQLState(rawValue: "42883")
    package static let undefinedSchema = SQLState(rawValue: "3F000")
    package static let insufficientPrivilege = SQLState(rawValue: "42501")
    package static let diskFull = SQLState(rawValue: "53100")
    package static let invalidPassword = SQLState(rawValue: "28P01")

    /// The first two letters: the class.
    package var errorClass: Substring { rawValue.prefix(2) }
}

extension PostgreSQLError {
    static func noLibrary(_ names: [String], reason: String) -> PostgreSQLError {
        PostgreSQLError(
            .noLibrary,
            "A PostgreSQL journal needs PostgreSQL's client library, which could not be opened: \(reason). "
                + "Install it (the package libpq5 of Debian and Ubuntu).")
    }

    static func noFunction(_ name: String) -> PostgreSQLError {
        PostgreSQLError(
            .noLibrary,
            "PostgreSQL's client library has no function \(name): it is too old. Install that of "
                + "PostgreSQL 15 or newer.")
    }

    static func badAddress(_ reason: String) -> PostgreSQLError {
        PostgreSQLError(
            .badAddress,
            "This is not the address of a PostgreSQL journal: \(reason). One is "
                + "postgres://USER@HOST:PORT/DATABASE.")
    }

    static func notConnected(_ address: PostgreSQLAddress, _ reason: String) -> PostgreSQLError {
        PostgreSQLError(
            .notConnected, "Could not connect to \(address): \(address.withoutPassword(reason)).")
    }

    static func lost(_ address: PostgreSQLAddress, _ reason: String) -> PostgreSQLError {
        PostgreSQLError(
            .lost,
            "The connection to \(address) was lost: \(address.withoutPassword(reason)). Whether it "
                + "carried out what was asked last is not known.")
    }

    static func abandoned(_ address: PostgreSQLAddress) -> PostgreSQLError {
        PostgreSQLError(.abandoned, "Waiting for \(address) was given up.")
    }

    static func closed(_ address: PostgreSQLAddress) -> PostgreSQLError {
        PostgreSQLError(.notConnected, "The connection to \(address) is closed; nothing was asked.")
    }

    package static func unexpected(_ what: String) -> PostgreSQLError {
        PostgreSQLError(
            .unexpectedAnswer, "PostgreSQL's answer is not of the expected form: \(what).")
    }
}
