import Disk
import EventLog

// The tools' error messages. Tests compare them in full.

extension LogError {
    static func unrepairable(_ damage: LogDamage) -> LogError {
        LogError(
            .damaged,
            "The log is damaged in \(damage). Nothing can be kept: no event or checkpoint is left "
                + "from which a state can be rebuilt. Nothing was changed.", damage: damage)
    }

    static func repairing(_ directory: String, _ cause: FileSystemError) -> LogError {
        let code: Code =
            cause.isStorageFull ? .storageFull : cause.isReadOnly ? .readOnly : .inputOutput
        return LogError(
            code,
            "Could not finish repairing the log in \(directory): \(cause). Nothing was lost; "
                + "repair it again.", cause: cause)
    }

    static func forking(_ directory: String, _ cause: FileSystemError) -> LogError {
        let code: Code =
            cause.isStorageFull ? .storageFull : cause.isReadOnly ? .readOnly : .inputOutput
        return LogError(
            code,
            "Could not copy the log to \(directory): \(cause). The copy is not usable; remove it.",
            cause: cause)
    }

    static func noState(_ sequence: UInt64, first: UInt64) -> LogError {
        LogError(
            .outOfRange,
            "The state after event \(sequence) cannot be rebuilt: the log begins with event "
                + "\(first), and no good checkpoint is between the two.")
    }

    static func outOfRange(_ sequence: UInt64, kept: ClosedRange<UInt64>?) -> LogError {
        let extent = kept.map { "has events \($0.lowerBound) to \($0.upperBound)" } ?? "is empty"
        return LogError(.outOfRange, "There is no event \(sequence): the log \(extent).")
    }
}
