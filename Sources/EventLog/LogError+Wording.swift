package import Disk

// All of the log's error messages; those of its tools are in LogTools. Tests compare them in full.

extension LogError {
    static func opening(_ directory: String, _ cause: FileSystemError) -> LogError {
        if cause.isReadOnly {
            return LogError(
                .readOnly,
                "Could not open the log in \(directory) for writing: \(cause). Nothing was changed.",
                cause: cause)
        }
        if cause.isStorageFull {
            return LogError(
                .storageFull,
                "Could not open the log in \(directory): \(cause). Nothing in it was lost.",
                cause: cause)
        }
        return LogError(
            .inputOutput, "Could not open the log in \(directory): \(cause).", cause: cause)
    }

    static func reading(_ cause: FileSystemError) -> LogError {
        LogError(.inputOutput, "Could not read the log: \(cause).", cause: cause)
    }

    package static func notFound(_ directory: String) -> LogError {
        LogError(.notFound, "There is no log in \(directory): it has no META and no segments.")
    }

    static func locked(_ directory: String, holder: String) -> LogError {
        LogError(
            .locked,
            "Could not open the log in \(directory) for writing: \(holder) has it open. "
                + "A log has one writer; stop that one first or use another directory.")
    }

    static func futureVersion(_ file: String, _ version: FormatVersion) -> LogError {
        LogError(
            .futureVersion,
            "\(file) has format version \(version); this program reads version "
                + "\(FormatVersion.current.major). Nothing was changed; use the newer program.")
    }

    package static func damaged(_ damage: LogDamage) -> LogError {
        LogError(
            .damaged,
            "The log is damaged in \(damage). Nothing was changed; "
                + "`relay log repair --plan` says what a repair keeps.", damage: damage)
    }

    package static func damaged(
        _ source: any SegmentSource, at offset: UInt64, _ fault: FrameFault, sequence: UInt64?
    ) -> LogError {
        .damaged(
            LogDamage(
                file: source.path, offset: offset, length: nil, sequence: sequence,
                reason: fault.sentence))
    }

    static func damaged(_ file: String, at offset: UInt64, _ fault: SegmentFault) -> LogError {
        if case .futureVersion(let version) = fault { return .futureVersion(file, version) }
        return .damaged(
            LogDamage(
                file: file, offset: offset, length: nil, sequence: nil, reason: fault.sentence))
    }

    /// - Parameter isUndone: none of the events' bytes are in the file. Otherwise all or part of them may be:
    ///   a sync can also report that there is no room.
    static func append(
        _ range: ClosedRange<UInt64>, to file: String, _ cause: FileSystemError, isUndone: Bool
    ) -> LogError {
        let events = range.eventWords
        if isUndone {
            return LogError(
                .storageFull,
                "Could not append \(events) to \(file): \(cause). None of it was kept or "
                    + "acknowledged; appending works again when there is room.", cause: cause)
        }
        return LogError(
            .inputOutput,
            "Could not append \(events) to \(file): \(cause). It was not acknowledged, and the log "
                + "takes no more events until it is reopened.", cause: cause)
    }

    static func synchronizing(_ file: String, _ cause: FileSystemError) -> LogError {
        LogError(
            .inputOutput,
            "Could not bring acknowledged events in \(file) to the disk: \(cause). They may be lost "
                + "if the machine stops, and the log takes no more until it is reopened.",
            cause: cause)
    }

    static func frozen(_ first: LogError) -> LogError {
        LogError(
            .frozen,
            "The log takes no more events, because an earlier append failed: \(first.message)",
            cause: first.cause)
    }

    static func handedBack(_ first: LogError) -> LogError {
        LogError(
            first.code,
            "Not appended, because an earlier append failed and this one came after it: "
                + first.message, cause: first.cause)
    }

    static func checkpoint(_ file: String, _ cause: FileSystemError) -> LogError {
        let code: Code =
            cause.isStorageFull ? .storageFull : cause.isReadOnly ? .readOnly : .inputOutput
        return LogError(
            code,
            "Could not write the checkpoint \(file): \(cause). The log itself is not affected.",
            cause: cause)
    }

    static func deflating(_ file: String, _ cause: FileSystemError) -> LogError {
        LogError(
            cause.isStorageFull ? .storageFull : .inputOutput,
            "Could not deflate the sealed segment \(file): \(cause). It stays as it is.",
            cause: cause)
    }

    package static func notEmpty(_ directory: String) -> LogError {
        LogError(
            .conflict,
            "\(directory) is not empty: give a new directory. Nothing in it was changed.")
    }

    static func missingSegments(_ directory: LogDirectory) -> LogError {
        .damaged(.allMissing(directory))
    }

    static func lastEpoch(_ directory: String) -> LogError {
        LogError(
            .conflict,
            "The log in \(directory) has the last epoch, \(LogMetadata.largestEpoch), and would need "
                + "another. Nothing was changed; `relay log export` and `import` make a new log "
                + "of it.")
    }

    package static func compacting(
        _ directory: String, reason: String, cause: FileSystemError? = nil
    ) -> LogError {
        LogError(
            cause == nil ? .conflict : .inputOutput,
            "Could not compact the log in \(directory): \(reason)", cause: cause)
    }

    static let closed = LogError(.closed, "The log is closed; nothing was appended.")

    static func queueFull(waiting: Int, limit: Int) -> LogError {
        LogError(
            .queueFull,
            "The disk is behind: \(waiting) bytes wait to be written and the limit is \(limit). "
                + "Nothing was appended; try again later.")
    }

    static let emptyBatch = LogError(.unacceptableBatch, "An empty batch cannot be appended.")

    static func tooLarge(_ bytes: Int) -> LogError {
        LogError(
            .unacceptableBatch,
            "A batch of \(bytes) bytes cannot be appended: a frame holds at most "
                + "\(FrameLayout.maximumPayload) bytes.")
    }

    static let lastSequence = LogError(
        .unacceptableBatch,
        "The batch cannot be appended: the last event that a log can have is "
            + "\(FrameLayout.largestSequence). `relay log export` and `import` make a new log from it."
    )

    static func sequenceMoved(expected: UInt64, next: UInt64) -> LogError {
        LogError(
            .sequenceMoved,
            "Nothing was appended: the caller expected the next event to be \(expected), "
                + "it is \(next).")
    }

    static func dropped(_ sequence: UInt64, first: UInt64) -> LogError {
        LogError(
            .outOfRange, "There is no event \(sequence): the log begins with event \(first).")
    }
}

extension LogDamage {
    static func metadataMissing(_ directory: LogDirectory) -> LogDamage {
        LogDamage(
            file: directory.metadataPath, offset: 0, length: nil, sequence: nil,
            reason: "the file is missing, though there are events or checkpoints")
    }

    package static func allMissing(_ directory: LogDirectory) -> LogDamage {
        LogDamage(
            file: directory.segmentsPath, offset: 0, length: nil, sequence: nil,
            reason: "all segments are missing")
    }
}

extension FrameFault {
    package var sentence: String {
        switch self {
        case .magic: "no frame begins here, though one should"
        case .headerChecksum: "the frame's header does not match its checksum"
        case .fields: "the frame's header makes no sense"
        case .payloadChecksum: "the frame's events do not match their checksum"
        case .endMarker: "the frame's end is not where its header says"
        case .cutShort: "the file ends within the frame"
        case .sequence(let expected, let found):
            "the frame begins with event \(found) instead of \(expected)"
        case .epoch(let least, let found):
            "the frame has epoch \(found), which is before \(least)"
        case .events: "the events do not fill the frame as its header says"
        case .chain: "the frame's chain hash does not follow from what comes before it"
        case .missing(let range):
            range.isEmpty
                ? "the segment ends with event \(range.lowerBound - 1), but the next one begins with it"
                : "events \(range.lowerBound) to \(range.upperBound - 1) are missing"
        }
    }
}

extension SegmentFault {
    package var sentence: String {
        switch self {
        case .cutShort: "the file ends within the segment header"
        case .magic: "this is not a segment of a log"
        case .checksum: "the segment header does not match its checksum"
        case .futureVersion(let version): "the format version is \(version)"
        case .unknownEncoding: "the segment's checksum, hash or encoding is unknown"
        case .name(let first):
            "the segment begins with event \(first), not with the one it is named after"
        case .otherStore(let store): "the segment belongs to another store, \(store)"
        case .predecessor(let expected, let found):
            "the segment follows one that begins with event \(expected), "
                + "but the file before it begins with event \(found)"
        }
    }
}

extension CheckpointFault {
    var sentence: String {
        switch self {
        case .cutShort: "it is not complete"
        case .notACheckpoint: "it is not a checkpoint"
        case .futureVersion: "a later version of this program wrote it"
        case .headerChecksum: "its header does not match its checksum"
        case .payloadChecksum: "its state does not match its checksum"
        case .otherStore: "it belongs to another store"
        case .name: "it is named after another event"
        }
    }
}
