import Disk

/// The checkpoints of one log. Writing them never blocks the log's writer.
package struct CheckpointFiles: Sendable {
    /// A checkpoint file that was skipped, and why.
    package struct Ignored: Error, Hashable, CustomStringConvertible {
        package let file: String
        package let reason: String
        /// The file existed a moment ago: a server removes old checkpoints after writing a new one.
        var wasRemoved = false

        package var description: String { "Ignored \(file): \(reason)." }
    }

    private let directory: LogDirectory
    private let storeID: StoreID
    private var fileSystem: any FileSystem { directory.fileSystem }

    /// - Parameter storeID: the store that the checkpoints must be of.
    package init(_ directory: LogDirectory, storeID: StoreID) {
        self.directory = directory
        self.storeID = storeID
    }

    /// Writes a checkpoint to a temporary file, syncs it, renames it into place, and removes old ones.
    ///
    /// Blocks on the disk. If there is no room, nothing changes.
    /// - Parameters:
    ///   - keeping: how many of the newest to keep, including this one.
    ///   - keepingOlder: how many more to keep, spread over the history, so that a checkpoint is near every
    ///     past state. If the beginning of the log is gone, the first of them is the checkpoint that the log
    ///     begins with, which cannot be recreated.
    /// - Throws: `storageFull`, `readOnly`, `inputOutput`.
    package func write(
        _ checkpoint: Checkpoint, keeping: Int, keepingOlder: Int = 0
    ) throws(LogError) {
        precondition(keeping > 0, "at least the new checkpoint is kept")
        let path = directory.checkpointPath(checkpoint.header.sequence)
        let aside = path + ".tmp"
        do throws(FileSystemError) {
            let file = try fileSystem.open(aside, .replace)
            defer { file.close() }
            try file.writeAll(CheckpointLayout.encode(checkpoint, storeID: storeID), at: 0)
            try file.writeAll(checkpoint.payload, at: UInt64(CheckpointLayout.headerSize))
            try file.synchronizeData()
            try fileSystem.rename(aside, to: path)
            try fileSystem.synchronizeDirectory(directory.checkpointsPath)
            try removeOld(keeping: keeping, older: keepingOlder)
        } catch {
            try? fileSystem.remove(aside)
            throw .checkpoint(path, error)
        }
    }

    /// The newest valid checkpoint that this fold can use.
    ///
    /// - Parameters:
    ///   - through: the log's last event. A later checkpoint belongs to a history that was lost.
    /// - Returns: the checkpoint, or nil if there is none, and every file that was skipped.
    package func newest(
        foldVersions: ClosedRange<UInt32>, through: UInt64
    ) throws(LogError) -> (checkpoint: Checkpoint?, ignored: [Ignored]) {
        var found = try newestNow(foldVersions: foldVersions, through: through)
        // A server may have removed all of these after writing newer ones.
        for _ in 0..<10 where found.checkpoint == nil && found.ignored.contains(where: \.wasRemoved)
        {
            found = try newestNow(foldVersions: foldVersions, through: through)
        }
        return (found.checkpoint, found.ignored.filter { !$0.wasRemoved })
    }

    private func newestNow(
        foldVersions: ClosedRange<UInt32>, through: UInt64
    ) throws(LogError) -> (checkpoint: Checkpoint?, ignored: [Ignored]) {
        var ignored: [Ignored] = []
        for sequence in try sequences().reversed() {
            let path = directory.checkpointPath(sequence)
            guard sequence <= through else {
                ignored.append(
                    Ignored(file: path, reason: "the log ends with event \(through)"))
                continue
            }
            let result = try read(sequence, foldVersions: foldVersions)
            switch result {
            case .success(let checkpoint): return (checkpoint, ignored)
            case .failure(let reason): ignored.append(reason)
            }
        }
        return (nil, ignored)
    }

    /// The event of the newest checkpoint that this fold can use, judged by the header alone. The payload is
    /// not read, so it may be damaged.
    /// - Parameter through: the log's last event.
    package func newestSequence(
        foldVersions: ClosedRange<UInt32>, through: UInt64
    ) throws(LogError) -> UInt64? {
        for sequence in try sequences().reversed() where sequence <= through {
            let found = try open(sequence, foldVersions: foldVersions) { _, header, _ in header }
            if case .success = found { return sequence }
        }
        return nil
    }

    /// The sequences of all checkpoint files, in ascending order. Incomplete ones have other names.
    package func sequences() throws(LogError) -> [UInt64] {
        try Self.sequences(in: directory)
    }

    /// The size of each in bytes.
    package func sizes() throws(LogError) -> [UInt64] {
        try reading { () throws(FileSystemError) in
            var sizes: [UInt64] = []
            for sequence in try Self.names(in: directory).compactMap(Self.sequence(ofName:)) {
                do throws(FileSystemError) {
                    let file = try fileSystem.open(directory.checkpointPath(sequence), .read)
                    defer { file.close() }
                    sizes.append(try file.size())
                } catch  where error.isMissingFile {
                    // A newer one has taken its place.
                }
            }
            return sizes
        }
    }

    static func sequences(in directory: LogDirectory) throws(LogError) -> [UInt64] {
        try reading { () throws(FileSystemError) in
            try names(in: directory).compactMap(sequence(ofName:))
        }
    }

    /// The newest valid header, and the store that it names, whichever that is; nil if there is none. The payload is
    /// not read, so it may be damaged.
    package static func newestHeader(
        in directory: LogDirectory
    ) throws(LogError) -> (storeID: StoreID, header: Checkpoint.Header)? {
        for sequence in try sequences(in: directory).reversed() {
            let bytes = try reading { () throws(FileSystemError) in
                try directory.fileSystem.open(directory.checkpointPath(sequence), .read)
                    .bytes(at: 0, count: CheckpointLayout.headerSize)
            }
            guard let storeID = CheckpointLayout.storeID(bytes),
                let (header, _, _) = try? CheckpointLayout.read(
                    bytes, sequence: sequence, storeID: storeID)
            else { continue }
            return (storeID, header)
        }
        return nil
    }

    /// The sequences of the valid checkpoints after an event, in ascending order.
    func valid(after sequence: UInt64) throws(LogError) -> [UInt64] {
        var valid: [UInt64] = []
        for later in try sequences() where later > sequence {
            if case .success = try read(later, foldVersions: nil) { valid.append(later) }
        }
        return valid
    }

    /// The headers of the valid checkpoints, in ascending order.
    package func headers() throws(LogError) -> [Checkpoint.Header] {
        var headers: [Checkpoint.Header] = []
        for sequence in try sequences() {
            if case .success(let checkpoint) = try read(sequence, foldVersions: nil) {
                headers.append(checkpoint.header)
            }
        }
        return headers
    }

    /// Reads every checkpoint. One that a running server removes in the meantime is left out.
    /// - Parameter judge: the fold's verdict on a checkpoint whose bytes are intact.
    package func examine(_ judge: CheckpointJudge) throws(LogError) -> [CheckpointFinding] {
        var findings: [CheckpointFinding] = []
        for sequence in try sequences() {
            let path = directory.checkpointPath(sequence)
            switch try read(sequence, foldVersions: nil) {
            case .success(let checkpoint):
                findings.append(
                    CheckpointFinding(
                        sequence: sequence, file: path, header: checkpoint.header,
                        verdict: judge(checkpoint)))
            case .failure(let ignored) where ignored.wasRemoved: continue
            case .failure(let ignored):
                findings.append(
                    CheckpointFinding(
                        sequence: sequence, file: path, header: nil,
                        verdict: .damaged(ignored.reason)))
            }
        }
        return findings
    }

    /// One checkpoint, whichever fold made it.
    /// - Throws: `damaged` if it is not valid, `outOfRange` if there is none.
    package func checkpoint(at sequence: UInt64) throws(LogError) -> Checkpoint {
        let missing = LogError(.outOfRange, "There is no checkpoint at event \(sequence).")
        guard try sequences().contains(sequence) else { throw missing }
        switch try read(sequence, foldVersions: nil) {
        case .success(let checkpoint): return checkpoint
        case .failure(let ignored) where ignored.wasRemoved: throw missing
        case .failure(let ignored):
            throw .damaged(
                LogDamage(
                    file: ignored.file, offset: 0, length: nil, sequence: sequence,
                    reason: ignored.reason))
        }
    }

    /// Removes the checkpoints after `sequence`, whose events are no longer in the log.
    func removeAll(after sequence: UInt64) throws(FileSystemError) {
        try removeAll { $0 > sequence }
    }

    /// Removes the checkpoints before `sequence`, from which no events lead on any more.
    func removeAll(before sequence: UInt64) throws(FileSystemError) {
        try removeAll { $0 < sequence }
    }

    private func removeAll(
        where isUseless: (UInt64) -> Bool
    ) throws(FileSystemError) {
        let lost = try Self.names(in: directory).filter {
            Self.sequence(ofName: $0).map(isUseless) ?? false
        }
        guard !lost.isEmpty else { return }
        for name in lost { try fileSystem.remove(directory.checkpointsPath + "/" + name) }
        try fileSystem.synchronizeDirectory(directory.checkpointsPath)
    }

    private func read(
        _ sequence: UInt64, foldVersions: ClosedRange<UInt32>?
    ) throws(LogError) -> Result<Checkpoint, Ignored> {
        try open(sequence, foldVersions: foldVersions) {
            file, header, body throws(CheckpointFault) in
            let payload = try payload(of: file, count: body.count)
            guard payload.count == body.count, Checksum.crc32(payload) == body.checksum else {
                throw .payloadChecksum
            }
            return Checkpoint(header: header, payload: payload)
        }
    }

    /// Opens a checkpoint file whose header is valid and whose length matches it.
    private func open<Content>(
        _ sequence: UInt64, foldVersions: ClosedRange<UInt32>?,
        _ read: (any File, Checkpoint.Header, (count: Int, checksum: UInt32))
            throws(CheckpointFault) -> Content
    ) throws(LogError) -> Result<Content, Ignored> {
        let path = directory.checkpointPath(sequence)
        let file: any File
        do throws(FileSystemError) {
            file = try fileSystem.open(path, .read)
        } catch  where error.isMissingFile {
            // A server keeps only the newest ones; it may have removed this one since the names were read.
            return .failure(
                Ignored(file: path, reason: "it was removed meanwhile", wasRemoved: true))
        } catch {
            throw .reading(error)
        }
        defer { file.close() }
        let (bytes, size) = try reading { () throws(FileSystemError) in
            (try file.bytes(at: 0, count: CheckpointLayout.headerSize), try file.size())
        }
        do throws(CheckpointFault) {
            let (header, length, checksum) = try CheckpointLayout.read(
                bytes, sequence: sequence, storeID: storeID)
            if let foldVersions, !foldVersions.contains(header.foldVersion) {
                let reason = """
                    fold version \(header.foldVersion) made it, this is \(foldVersions.upperBound)
                    """
                return .failure(Ignored(file: path, reason: reason))
            }
            guard size - UInt64(bytes.count) == length else { throw .cutShort }
            return .success(try read(file, header, (count: Int(length), checksum: checksum)))
        } catch {
            return .failure(Ignored(file: path, reason: error.sentence))
        }
    }

    /// An unreadable payload is treated as missing: an older checkpoint or a full replay serves as well.
    private func payload(of file: any File, count: Int) throws(CheckpointFault) -> [UInt8] {
        do throws(FileSystemError) {
            return try file.bytes(at: UInt64(CheckpointLayout.headerSize), count: count)
        } catch {
            throw .cutShort
        }
    }

    private func removeOld(keeping: Int, older: Int) throws(FileSystemError) {
        let names = try Self.names(in: directory)
        let sequences = names.compactMap(Self.sequence(ofName:))
        let unneeded = Self.unneeded(
            sequences, keeping: keeping, older: older,
            base: try base(of: sequences, keepingOlder: older > 0))
        for sequence in unneeded {
            try fileSystem.remove(directory.checkpointPath(sequence))
        }
        for name in names where name.hasSuffix(".tmp") {
            try fileSystem.remove(directory.checkpointsPath + "/" + name)
        }
    }

    /// The state that the log begins with: the one named in META, until it names a later one. A META of
    /// version 1.0 names none.
    private func base(
        of sequences: [UInt64], keepingOlder: Bool
    ) throws(FileSystemError) -> UInt64? {
        if let mark = (try? directory.metadata())?.beginning?.checkpoint { return mark.sequence }
        guard keepingOlder, let first = try directory.segments().first.first, first > 1 else {
            return nil
        }
        return sequences.first { $0 >= first - 1 }
    }

    /// Of the older ones, repeatedly drops the one that leaves the smallest gap, so that the rest are roughly
    /// evenly spaced.
    ///
    /// - Parameter base: the one that the log begins with, which stays.
    static func unneeded(
        _ sequences: [UInt64], keeping: Int, older: Int, base: UInt64? = nil
    ) -> [UInt64] {
        guard keeping < sequences.count else { return [] }
        let newest = sequences[sequences.count - keeping]
        var old = Array(sequences.dropLast(keeping))
        var unneeded: [UInt64] = []
        while old.count > older {
            let gaps = old.indices.map { index in
                (index + 1 < old.count ? old[index + 1] : newest)
                    - (index > 0 ? old[index - 1] : 0)
            }
            let removable = old.indices.filter { old[$0] != base }
            guard let least = removable.min(by: { gaps[$0] < gaps[$1] }) else { break }
            unneeded.append(old.remove(at: least))
        }
        return unneeded
    }

    private static func names(in directory: LogDirectory) throws(FileSystemError) -> [String] {
        do throws(FileSystemError) {
            return try directory.fileSystem.list(directory.checkpointsPath)
        } catch  where error.isMissingFile {
            return []
        }
    }

    private static func sequence(ofName name: String) -> UInt64? {
        guard name.hasSuffix(".checkpoint"), name.utf8.count == 31 else { return nil }
        let digits = name.prefix(20)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return LogDirectory.sequence(ofDigits: digits)
    }
}

extension LogDirectory {
    /// The file of the checkpoint at an event.
    package func checkpointPath(_ sequence: UInt64) -> String {
        "\(checkpointsPath)/\(sequence.twentyDigits).checkpoint"
    }
}

extension EventLogWriter {
    /// The log's checkpoints, for writing and reading.
    package var checkpoints: CheckpointFiles {
        CheckpointFiles(directory, storeID: metadata.storeID)
    }
}

extension EventLogReader {
    /// The log's checkpoints, for reading.
    package var checkpoints: CheckpointFiles {
        CheckpointFiles(directory, storeID: metadata.storeID)
    }
}
