package import Disk

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The files in a log's directory and their contents.
///
///     META         format version, store id, epoch
///     LOCK         locked by the one writer; holds its process id
///     segments/    <first sequence, 20 digits>.log, and …log.torn next to one that was cut
///     checkpoints/ <sequence, 20 digits>.checkpoint
///     spare/       segments being prepared; nothing in it is part of the log
package struct LogDirectory: Sendable {
    package let path: String
    package let fileSystem: any FileSystem

    package init(path: String, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    package var segmentsPath: String { path + "/segments" }
    package var checkpointsPath: String { path + "/checkpoints" }
    package var sparePath: String { path + "/spare" }
    var lockPath: String { path + "/LOCK" }
    package var metadataPath: String { path + "/" + LogMetadata.fileName }

    /// The file of the segment that begins with an event.
    package func segmentPath(_ firstSequence: UInt64) -> String {
        "\(segmentsPath)/\(firstSequence.twentyDigits).log"
    }

    /// The second name of a segment being deflated, which lets its plain file be reused.
    func usedPath(_ firstSequence: UInt64) -> String {
        "\(sparePath)/\(firstSequence.twentyDigits).used"
    }

    /// The first sequence in a segment's file name; nil for any other name.
    static func firstSequence(ofName name: String) -> UInt64? {
        guard name.hasSuffix(".log"), name.utf8.count == 24 else { return nil }
        let digits = name.dropLast(4)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return sequence(ofDigits: digits)
    }

    /// A sequence that a log can have: at least 1, and small enough to be incremented.
    static func sequence(ofDigits digits: some StringProtocol) -> UInt64? {
        guard let sequence = UInt64(digits), sequence > 0, sequence <= UInt64(Int64.max) else {
            return nil
        }
        return sequence
    }

    /// The parent of the log's directory.
    package var parentPath: String { Self.parent(of: path) }

    /// The parent of a file or directory.
    package static func parent(of path: String) -> String {
        let trimmed = path.reversed().drop { $0 == "/" }
        guard let slash = trimmed.firstIndex(of: "/") else {
            return path.hasPrefix("/") ? "/" : "."
        }
        let parent = String(trimmed[trimmed.index(after: slash)...].reversed())
        return parent.isEmpty ? "/" : parent
    }

    /// Creates the directory and those in it, as far as they are missing.
    package func create() throws(FileSystemError) {
        for directory in [path, segmentsPath, checkpointsPath, sparePath] {
            try fileSystem.createDirectory(directory)
        }
        try fileSystem.synchronizeDirectory(path)
    }

    /// Takes the writer's lock, creating the directory if there is none.
    ///
    /// The lock is released when the process ends, however it ends; the file stays.
    package func takeLock() throws(LogError) -> any File {
        let holder: String?
        do throws(FileSystemError) {
            try create()
            let file = try fileSystem.open(lockPath, .create)
            if try file.tryLock(.exclusive) {
                try file.truncate(to: 0)
                try file.writeAll(Array("\(getpid())\n".utf8), at: 0)
                return file
            }
            holder = try Self.processNumber(in: file)
        } catch {
            throw .opening(path, error)
        }
        throw .locked(path, holder: holder.map { "process \($0)" } ?? "another process")
    }

    private static func processNumber(in lock: any File) throws(FileSystemError) -> String? {
        let text = String(decoding: try lock.bytes(at: 0, count: 20), as: UTF8.self)
        let digits = text.prefix { $0.isNumber }
        return digits.isEmpty ? nil : String(digits)
    }

    /// First sequences of all segments, in ascending order, and every other name in `segments/`.
    func segments() throws(FileSystemError) -> (first: [UInt64], strays: [String]) {
        let names: [String]
        do throws(FileSystemError) {
            names = try fileSystem.list(segmentsPath)
        } catch  where error.isMissingFile {
            return ([], [])
        }
        var first: [UInt64] = []
        var strays: [String] = []
        for name in names {
            if let sequence = Self.firstSequence(ofName: name) {
                first.append(sequence)
            } else {
                strays.append(name)
            }
        }
        return (first, strays)
    }

    /// First sequences of all segments, in ascending order.
    package func firstSequences() throws(LogError) -> [UInt64] {
        try reading { () throws(FileSystemError) in try segments().first }
    }

    /// META; nil if there is none.
    /// - Throws: `damaged`, `futureVersion`, `inputOutput`.
    package func metadata() throws(LogError) -> LogMetadata? {
        guard
            let bytes = try reading({ () throws(FileSystemError) in
                try fileSystem.contents(of: metadataPath)
            })
        else { return nil }
        return try LogMetadata.read(bytes, file: metadataPath)
    }

    /// Whether there is anything that requires a META: an event or a checkpoint. An interrupted creation
    /// leaves a first segment without events.
    package func hasEvents() throws(LogError) -> Bool {
        let checkpoints = (try? fileSystem.list(checkpointsPath)) ?? []
        let first = try firstSequences()
        guard checkpoints.isEmpty, first.isEmpty || first == [1] else { return true }
        if first.isEmpty { return false }
        let (header, frame) = try reading { () throws(FileSystemError) in
            let file = try fileSystem.open(segmentPath(1), .read)
            defer { file.close() }
            return (
                try file.bytes(at: 0, count: SegmentHeader.size),
                try file.bytes(at: UInt64(SegmentHeader.size), count: FrameLayout.headerSize)
            )
        }
        let isHeader = (try? SegmentHeader.read(header)) != nil
        let isUnwritten = header.count < SegmentHeader.size || header.allSatisfy { $0 == 0 }
        return !(isHeader || isUnwritten) || !frame.allSatisfy { $0 == 0 }
    }

    /// Whether there is a META, damaged or not.
    package func hasMetadata() throws(LogError) -> Bool {
        try reading { () throws(FileSystemError) in
            try fileSystem.contents(of: metadataPath) != nil
        }
    }

    /// Replaces META. Durable when this returns.
    package func write(_ metadata: LogMetadata) throws(FileSystemError) {
        try fileSystem.replaceFile(LogMetadata.fileName, in: path, with: metadata.encoded)
    }
}

/// Runs file-system calls for reading, turning a failure into a ``LogError``.
package func reading<Result>(
    _ body: () throws(FileSystemError) -> Result
) throws(LogError) -> Result {
    do throws(FileSystemError) { return try body() } catch { throw .reading(error) }
}
