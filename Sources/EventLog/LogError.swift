package import Disk

/// Why an operation on a log failed.
///
/// `message` is one or more full sentences for people; programs switch over `code`.
package struct LogError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// There is no log in the directory.
        case notFound
        /// Another process has the log open for writing.
        case locked
        /// Written by a later major version of this program.
        case futureVersion
        /// The bytes are not what was written; `damage` says where.
        case damaged
        /// The directory or the file system is not writable.
        case readOnly
        /// No room: nothing was acknowledged, and later appends succeed once there is room.
        case storageFull
        /// A system call failed; `cause` says which.
        case inputOutput
        /// An earlier write or sync failed, and nothing can be guaranteed any more.
        case frozen
        case closed
        /// More bytes are waiting for the disk than the log allows.
        case queueFull
        /// A batch that fits in no frame, or an empty one.
        case unacceptableBatch
        /// The next sequence is not the one that the caller expected.
        case sequenceMoved
        /// Another process has appended to the shared journal of which this log is a copy.
        case overtaken
        /// The shared journal of which this log is a copy cannot be written now; later appends may succeed.
        case unavailable
        /// The log has stopped, and its shared journal may or may not contain the events.
        case outcomeUnknown
        /// A sequence before the first kept event or after the last.
        case outOfRange
        /// Something is in the way, such as a directory that should be empty.
        case conflict
    }

    package let code: Code
    package let message: String
    package let cause: FileSystemError?
    /// The location of the damage, with code `damaged`.
    package let damage: LogDamage?

    package init(
        _ code: Code, _ message: String, cause: FileSystemError? = nil, damage: LogDamage? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.damage = damage
    }

    package var description: String { message }
}

/// A location where the bytes are not what was written.
package struct LogDamage: Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// Offset of the first byte that cannot be trusted.
    package let offset: UInt64
    /// The number of unreadable bytes, if the next good frame is known.
    package let length: UInt64?
    /// The first event lost with them, if known.
    package let sequence: UInt64?
    package let reason: String

    package init(file: String, offset: UInt64, length: UInt64?, sequence: UInt64?, reason: String) {
        self.file = file
        self.offset = offset
        self.length = length
        self.sequence = sequence
        self.reason = reason
    }

    package var description: String {
        let event = sequence.map { " (event \($0))" } ?? ""
        return "\(file) at byte \(offset)\(event): \(reason)"
    }
}
