package import Disk
import EventLog

/// The key of a server's page cursors: the file `cursor-key` beside its log.
///
///     16 bytes    random, made by the first server that opens the log, and readable for its owner only
///
/// It is a key if and only if it has 16 bytes that are not all zero. It is no part of the history: a fork gets
/// one of its own, and whoever loses it only has page cursors refused that clients got before. So a server
/// starts without it, too.
package struct CursorKey: Sendable {
    package static let fileName = "cursor-key"
    package static let byteCount = 16

    package let bytes: [UInt8]
    /// A sentence for the operator if cursors from before, or later those from now, are refused.
    package let remark: String?

    /// - Parameter bytes: of a key that is kept elsewhere.
    package init(_ bytes: [UInt8]) { self.init(bytes, remark: nil) }

    private init(_ bytes: [UInt8], remark: String?) {
        self.bytes = bytes
        self.remark = remark
    }

    /// A key that is kept nowhere.
    package static func random() -> CursorKey { random(remark: nil) }

    private static func random(remark: String?) -> CursorKey {
        var system = SystemRandomNumberGenerator()
        return CursorKey((0..<byteCount).map { _ in system.next() }, remark: remark)
    }

    /// Reads the key of a log, or makes one. If neither is possible, it is one that is kept nowhere.
    /// - Parameter directory: of a log that the caller has opened for writing, so that nobody else makes one.
    package static func kept(in directory: String, _ fileSystem: any FileSystem) -> CursorKey {
        let path = directory + "/" + fileName
        do throws(FileSystemError) {
            let (key, damage) = try read(path, fileSystem)
            if let key { return CursorKey(key) }
            let new = random(
                remark: damage.map {
                    """
                    \(path) \($0) and was replaced by a new key. Page cursors that clients have from \
                    before are refused.
                    """
                })
            try fileSystem.replaceFile(
                fileName, in: directory, with: new.bytes, as: .replacePrivate)
            return new
        } catch {
            return random(
                remark: """
                    The key of page cursors could not be read or kept: \(error). Until that is \
                    possible, page cursors are good for one run of the server.
                    """)
        }
    }

    /// The bytes of the key beside a log; nil if there is none, or none that can be used.
    package static func stored(
        in directory: String, _ fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(EventStoreError) -> [UInt8]? {
        try onLog { () throws(LogError) in
            try reading { () throws(FileSystemError) in
                try read(directory + "/" + fileName, fileSystem).key
            }
        }
    }

    /// Puts a key beside a log.
    package static func store(
        _ bytes: [UInt8], in directory: String,
        _ fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(FileSystemError) {
        try fileSystem.replaceFile(fileName, in: directory, with: bytes, as: .replacePrivate)
    }

    /// The key, or what is wrong with it; nothing of either if there is none.
    private static func read(
        _ path: String, _ fileSystem: any FileSystem
    ) throws(FileSystemError) -> (key: [UInt8]?, damage: String?) {
        do throws(FileSystemError) {
            let file = try fileSystem.open(path, .read)
            defer { file.close() }
            let size = try file.size()
            guard size == byteCount else {
                return (nil, "has \(size) bytes instead of \(byteCount)")
            }
            let bytes = try file.bytes(at: 0, count: byteCount)
            // What some disks leave of a file after a power loss.
            let isKey = bytes.count == byteCount && bytes.contains { $0 != 0 }
            return isKey ? (bytes, nil) : (nil, "holds no key")
        } catch  where error.isMissingFile {
            return (nil, nil)
        }
    }
}
