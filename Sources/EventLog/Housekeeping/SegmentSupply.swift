import Disk

/// Zero-filled files waiting to become segments, in `spare/`.
///
/// Appending to such a file changes neither its size nor its blocks, so a sync writes only data and no
/// file-system journal: 1.4 to 10 times as many appends per second as to a growing file.
struct SegmentSupply {
    struct Spare: Equatable, Sendable {
        let path: String
        let sizeBytes: UInt64
    }

    let directory: LogDirectory
    /// The plain file of a deflated segment, locked so that nobody reads it.
    private var used: (file: any File, size: UInt64)?

    init(directory: LogDirectory) {
        self.directory = directory
    }

    /// Synced in steps, so that a sync of appended events never has to wait for much of this.
    private static let step: UInt64 = 1 << 20
    private static let suffix = ".zero"

    /// The spares left by an earlier process, ready to use.
    ///
    /// Anything else in `spare/` is unfinished work and is removed. So is a file that has been used: after a
    /// power failure it may have its name here as well as that of the segment it became, because the two
    /// directories need not be synced together. By then it has a header.
    func leftOver() throws(FileSystemError) -> [Spare] {
        var spares: [Spare] = []
        for name in try directory.fileSystem.list(directory.sparePath) {
            let path = directory.sparePath + "/" + name
            let size = name.hasSuffix(Self.suffix) ? try unusedSize(of: path) : nil
            if let size {
                spares.append(Spare(path: path, sizeBytes: size))
            } else {
                try directory.fileSystem.remove(path)
            }
        }
        return spares
    }

    /// The size of a file without a header; nil if it has one.
    private func unusedSize(of path: String) throws(FileSystemError) -> UInt64? {
        let file = try directory.fileSystem.open(path, .read)
        defer { file.close() }
        let head = try file.bytes(at: 0, count: SegmentHeader.size)
        return head.allSatisfy { $0 == 0 } ? try file.size() : nil
    }

    /// Keeps the plain file of a deflated segment, for ``fill(size:isCancelled:)``.
    ///
    /// Called once the deflated segment's name is durable. Only one is kept, and none if a reader is still
    /// reading it.
    mutating func keep(_ firstSequence: UInt64) {
        let path = directory.usedPath(firstSequence)
        guard used == nil, let file = try? directory.fileSystem.open(path, .readWrite),
            (try? file.tryLock(.exclusive)) == true, let size = try? file.size()
        else {
            try? directory.fileSystem.remove(path)
            return
        }
        used = (file, size)
    }

    /// Removes the kept file.
    mutating func discard() {
        guard let file = used?.file else { return }
        used = nil
        try? directory.fileSystem.remove(file.path)
        file.close()
    }

    /// The kept file if it has the right size, or a new one.
    private mutating func file(size: UInt64) throws(FileSystemError) -> any File {
        if let (file, usedSize) = used, usedSize == size {
            used = nil
            return file
        }
        discard()
        return try directory.fileSystem.open(directory.sparePath + "/filling", .replace)
    }

    /// Fills a used or new file with zeros, and names it a spare once they are all on the disk.
    ///
    /// A used file overwrites its blocks: nothing is freed and reallocated. Until every byte is zero, it has
    /// no name under which a start would use it.
    /// - Returns: nil if cancelled.
    mutating func fill(
        size: UInt64, isCancelled: () -> Bool
    ) throws(FileSystemError) -> Spare? {
        let file = try file(size: size)
        defer { file.close() }
        let aside = file.path
        do throws(FileSystemError) {
            var offset: UInt64 = 0
            while offset < size {
                guard !isCancelled() else {
                    try directory.fileSystem.remove(aside)
                    return nil
                }
                let end = min(offset + Self.step, size)
                try file.writeZeros(offset..<end)
                try file.synchronizeData()
                offset = end
            }
            let path = directory.sparePath + "/" + (try freeName())
            try directory.fileSystem.rename(aside, to: path)
            return Spare(path: path, sizeBytes: size)
        } catch {
            try? directory.fileSystem.remove(aside)
            throw error
        }
    }

    private func freeName() throws(FileSystemError) -> String {
        let names = Set(try directory.fileSystem.list(directory.sparePath))
        var number = 1
        while names.contains("\(number)\(Self.suffix)") { number += 1 }
        return "\(number)\(Self.suffix)"
    }
}
