package import Disk

/// The bytes of one segment as its writer wrote them, however they are stored now.
///
/// Frames, checksums and offsets are the same before and after a segment is deflated, so nothing above this
/// protocol knows about compression.
package protocol SegmentSource: AnyObject {
    var path: String { get }
    var header: SegmentHeader { get }
    /// Returns the number of bytes read, which is smaller than requested only at the end of the segment.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(LogError) -> Int
    /// Length of the segment; may grow while a writer appends.
    func size() throws(LogError) -> UInt64
    /// How many bytes from `offset` on can be had with a single read.
    func readAhead(at offset: UInt64) -> Int
    /// The offset and first sequence of a frame from which to look for an event.
    func start(of sequence: UInt64) -> (offset: UInt64, sequence: UInt64)
    /// Where reading can continue if `offset` cannot be read; nil if nowhere.
    func readable(after offset: UInt64) -> UInt64?
    /// Damage that reading can work around.
    var indexDamage: LogDamage? { get }
}

/// A segment of uncompressed frames.
final class PlainSegment: SegmentSource {
    let header: SegmentHeader
    private let file: any File

    init(_ file: any File, header: SegmentHeader) {
        self.file = file
        self.header = header
    }

    var path: String { file.path }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(LogError) -> Int {
        try reading { () throws(FileSystemError) in try file.read(into: buffer, at: offset) }
    }

    func size() throws(LogError) -> UInt64 {
        try reading { () throws(FileSystemError) in try file.size() }
    }

    func readAhead(at offset: UInt64) -> Int { 1 << 18 }

    func start(of sequence: UInt64) -> (offset: UInt64, sequence: UInt64) {
        (UInt64(SegmentHeader.size), header.firstSequence)
    }

    func readable(after offset: UInt64) -> UInt64? { nil }

    var indexDamage: LogDamage? { nil }
}

extension LogDirectory {
    /// Opens a segment for reading, checking its header against its name and store.
    package func openSegment(
        _ firstSequence: UInt64, of storeID: StoreID
    ) throws(LogError) -> any SegmentSource {
        let (file, header) = try openSegmentFile(firstSequence, of: storeID)
        return switch header.encoding {
        case .frames: PlainSegment(file, header: header)
        case .deflatedBlocks: try DeflatedSegment(file, header: header)
        }
    }

    /// Opens a segment's file for reading and keeps it from being reused as another segment.
    ///
    /// When a segment has been deflated, its plain file is reused, but not while a reader holds the shared
    /// lock on it. That may have happened between the open and the lock, so anything that looks wrong is
    /// opened once more by name.
    package func openSegmentFile(
        _ firstSequence: UInt64, of storeID: StoreID
    ) throws(LogError) -> (file: any File, header: SegmentHeader) {
        do throws(LogError) {
            let file = try openShared(firstSequence)
            return (file, try segmentHeader(file, firstSequence: firstSequence, storeID: storeID))
        } catch  where error.damage != nil {
            let file = try openShared(firstSequence)
            return (file, try segmentHeader(file, firstSequence: firstSequence, storeID: storeID))
        }
    }

    private func openShared(_ firstSequence: UInt64) throws(LogError) -> any File {
        let path = segmentPath(firstSequence)
        let file = try reading { () throws(FileSystemError) in try fileSystem.open(path, .read) }
        // Where locks are unsupported, nobody holds an exclusive one either.
        if let isShared = try? file.tryLock(.shared), !isShared {
            return try reading { () throws(FileSystemError) in try fileSystem.open(path, .read) }
        }
        return file
    }

    /// Opens a segment whose header is damaged, to read whatever is readable after it.
    package func openSegment(
        _ firstSequence: UInt64, assuming header: SegmentHeader
    ) throws(LogError) -> any SegmentSource {
        let file = try openShared(firstSequence)
        let start = try reading { () throws(FileSystemError) in
            try file.bytes(at: UInt64(SegmentHeader.size), count: DeflatedLayout.blockHeaderSize)
        }
        return DeflatedLayout.Block(start) != nil
            ? try DeflatedSegment(file, header: header) : PlainSegment(file, header: header)
    }

    func segmentHeader(
        _ file: any File, firstSequence: UInt64, storeID: StoreID
    ) throws(LogError) -> SegmentHeader {
        let bytes = try reading { () throws(FileSystemError) in
            try file.bytes(at: 0, count: SegmentHeader.size)
        }
        do throws(SegmentFault) {
            let header = try SegmentHeader.read(bytes)
            guard header.firstSequence == firstSequence else {
                throw .name(firstSequence: header.firstSequence)
            }
            guard header.storeID == storeID else { throw .otherStore(header.storeID) }
            return header
        } catch {
            throw .damaged(file.path, at: 0, error)
        }
    }
}
