package import Disk

/// Why something about a log could not be done.
///
/// `message` is a whole sentence or more for people; programs switch over `code`.
package struct LogError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// There is no log in that directory.
        case notFound
        /// Another process has it open for writing.
        case locked
        /// Written by a later major version of this program.
        case futureVersion
        /// Bytes are not what was written; `damage` says where.
        case damaged
        /// The directory or the file system cannot be written.
        case readOnly
        /// No room: nothing was acknowledged, and later appends work once there is room.
        case storageFull
        /// A system call failed; `cause` says which.
        case inputOutput
        /// An earlier write or sync failed and nothing can be promised any more.
        case frozen
        case closed
        /// More is waiting for the disk than the log accepts.
        case queueFull
        /// One batch that no frame can hold, or an empty one.
        case unacceptableBatch
        /// The next sequence is not the one that the caller counted on.
        case sequenceMoved
        /// A sequence before the first kept or after the last.
        case outOfRange
        /// Something is in the way, for example a directory that should be empty.
        case conflict
    }

    package let code: Code
    package let message: String
    package let cause: FileSystemError?
    /// Where the damage is, with code `damaged`.
    package let damage: LogDamage?

    init(_ code: Code, _ message: String, cause: FileSystemError? = nil, damage: LogDamage? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        self.damage = damage
    }

    package var description: String { message }
}

/// A place where the bytes are not what was written.
package struct LogDamage: Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// Offset of the first byte that cannot be trusted.
    package let offset: UInt64
    /// How many bytes cannot be read, when the next good frame is known.
    package internal(set) var length: UInt64?
    /// The first event lost with them, when it is known.
    package let sequence: UInt64?
    package let reason: String

    package var description: String {
        let event = sequence.map { " (event \($0))" } ?? ""
        return "\(file) at byte \(offset)\(event): \(reason)"
    }
}
