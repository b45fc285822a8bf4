import Disk
import DiskSimulation
import EventLog
import Threads

/// A disk in memory that notes what no reader may ask of a disk: more bytes at once than there are, bytes behind
/// the last offset that a file can have, and more and more without an end.
final class MeteredDisk: WrappedDisk {
    private struct State {
        var reads = 0
        var excesses: [String] = []
    }

    let disk: SimulatedDisk
    private let state = Lock(State())

    /// More at once than any reader of a small log needs.
    private static let usualRead = 1 << 18
    /// A small log takes some hundreds.
    private static let maximumReads = 100_000

    init(_ disk: SimulatedDisk) { self.disk = disk }

    /// A sentence for each thing that was asked too much.
    var excesses: [String] { state.withLock { $0.excesses } }

    func willRead(_ count: Int, at offset: UInt64, of file: any File) throws(FileSystemError) {
        let size = try file.size()
        let path = file.path
        let isEndless = state.withLock { state in
            state.reads += 1
            if count > max(Self.usualRead, Int(clamping: size)) {
                state.excesses.append("\(count) bytes at once of \(path), which has \(size)")
            }
            if offset > UInt64(Int64.max) - UInt64(count) {
                state.excesses.append("\(count) bytes at \(offset) of \(path)")
            }
            if state.reads == Self.maximumReads { state.excesses.append("reads without an end") }
            return state.reads >= Self.maximumReads
        }
        guard isEndless else { return }
        throw FileSystemError(call: "pread", path: path, errno: SimulatedDisk.inputOutput)
    }
}
