package import BoundedTesting
package import Disk
import EventLog
import Threads

/// A disk in memory that forgets, tears, fails and fills up on request.
///
/// It keeps what was synced apart from what was only written. A crash keeps the synced state and
/// any part of the rest that a real disk might have got to: `crashed(_:)` decides, sector by
/// sector and name by name.
///
/// `@unchecked Sendable`: everything mutable is behind `lock`.
package final class SimulatedDisk: FileSystem, @unchecked Sendable {
    /// What of the unsynced writes survives a crash.
    package enum Survival {
        case nothing
        case everything
        /// Of one file, the first so many bytes of what was written since the last sync.
        case prefix(Int, of: String)
        /// Each sector and each name by the toss of a coin.
        case random(SeededGenerator)
    }

    package struct Call: Sendable {
        package let number: Int
        package let name: String
        package let path: String
    }

    fileprivate struct State {
        var names: [String: SimulatedFile.Node] = [:]
        var syncedNames: [String: SimulatedFile.Node] = [:]
        var directories: Set<String> = []
        var syncedDirectories: Set<String> = []
        var callCount = 0
        var fault: (@Sendable (Call) -> Fault?)?
        var pause: (@Sendable () -> Void)?
        var removes: (@Sendable (String) -> Void)?
        var capacity = Int.max
        var isReadOnly = false
        var isPoweredOff = false

        var usedBytes: Int { names.values.reduce(0) { $0 + $1.bytes.count } }
    }

    package enum Fault {
        case error(Int32)
        /// A write that takes only so many bytes.
        case short(Int)
        /// The machine stops at this call, before it does anything.
        case powerOff
    }

    package static let inputOutput: Int32 = 5
    package static let noSpace: Int32 = 28
    package static let tooManyOpenFiles: Int32 = 24
    package static let noEntry: Int32 = 2
    package static let exists: Int32 = 17
    package static let readOnly: Int32 = 30

    fileprivate let state = Lock(State())

    package init() {}

    private init(names: [String: SimulatedFile.Node], directories: Set<String>) {
        state.withLock {
            $0.names = names
            $0.syncedNames = names
            $0.directories = directories
            $0.syncedDirectories = directories
        }
    }

    // MARK: Faults

    package var callCount: Int { state.withLock { $0.callCount } }

    package func setFault(_ fault: (@Sendable (Call) -> Fault?)?) {
        state.withLock { $0.fault = fault }
    }

    /// Called before each call does anything, on the caller's thread: what others do meanwhile.
    package func setPause(_ pause: (@Sendable () -> Void)?) {
        state.withLock { $0.pause = pause }
    }

    /// Called with a path before it is removed, on the caller's thread.
    package func onRemove(_ action: (@Sendable (String) -> Void)?) {
        state.withLock { $0.removes = action }
    }

    /// Nothing can be read or written any more.
    package func powerOff() { state.withLock { $0.isPoweredOff = true } }

    /// Bytes that all files together may have.
    package func setCapacity(_ bytes: Int) {
        state.withLock { $0.capacity = bytes }
    }

    /// What all files together have.
    package var usedBytes: Int { state.withLock { $0.usedBytes } }

    package func setReadOnly(_ isReadOnly: Bool) {
        state.withLock { $0.isReadOnly = isReadOnly }
    }

    /// The disk as another machine would find it after this one stopped.
    package func crashed(_ survival: Survival) -> SimulatedDisk {
        state.withLock { state in
            var survival = survival
            var copies: [ObjectIdentifier: SimulatedFile.Node] = [:]
            var names: [String: SimulatedFile.Node] = [:]
            let directories = survival.directories(of: state)
            let paths = Set(state.names.keys).union(state.syncedNames.keys).sorted()
            for path in paths where directories.contains(Self.directory(of: path)) {
                let synced = state.syncedNames[path]
                let current = state.names[path]
                guard let node = survival.keepsName(synced === current) ? current : synced else {
                    continue
                }
                let id = ObjectIdentifier(node)
                let copy = copies[id] ?? node.crashed(at: path, &survival)
                copies[id] = copy
                names[path] = copy
            }
            return SimulatedDisk(
                names: names, directories: directories.subtracting([Self.root]))
        }
    }

    /// The disk as another process finds it after this one was killed: nothing is lost, and nothing more is synced
    /// than before. Locks and faults are gone.
    package func killed() -> SimulatedDisk {
        state.withLock { state in
            var copies: [ObjectIdentifier: SimulatedFile.Node] = [:]
            func copy(_ node: SimulatedFile.Node) -> SimulatedFile.Node {
                let id = ObjectIdentifier(node)
                let copy = copies[id] ?? node.copy()
                copies[id] = copy
                return copy
            }
            let disk = SimulatedDisk()
            let (names, syncedNames) = (
                state.names.mapValues(copy), state.syncedNames.mapValues(copy)
            )
            disk.state.withLock {
                $0.names = names
                $0.syncedNames = syncedNames
                $0.directories = state.directories
                $0.syncedDirectories = state.syncedDirectories
                $0.capacity = state.capacity
            }
            return disk
        }
    }

    /// The directory that paths without one are in.
    fileprivate static let root = "."

    fileprivate static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? root
    }

    // MARK: Looking inside

    package func contents(at path: String) -> [UInt8]? {
        state.withLock { $0.names[path]?.bytes }
    }

    package func setContents(_ bytes: [UInt8], at path: String) {
        state.withLock {
            let node = SimulatedFile.Node(bytes: bytes)
            $0.names[path] = node
            $0.syncedNames[path] = node
        }
    }

    package func paths(under directory: String) -> [String] {
        state.withLock { state in
            state.names.keys.filter { $0.hasPrefix(directory + "/") }.sorted()
        }
    }

    /// A disk with the same files, all of them synced.
    package func copy() -> SimulatedDisk { crashed(.everything) }

    // MARK: FileSystem

    package func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
        let empties = mode == .replace || mode == .replacePrivate
        let node = try perform("open", path, writes: mode != .read) {
            (state) throws(FileSystemError) in
            if let node = state.names[path] {
                if empties { node.truncate(to: 0) }
                return node
            }
            guard mode == .create || empties else {
                throw FileSystemError(call: "open", path: path, errno: Self.noEntry)
            }
            let node = SimulatedFile.Node(bytes: [])
            state.names[path] = node
            return node
        }
        return SimulatedFile(disk: self, node: node, path: path)
    }

    package func rename(_ source: String, to destination: String) throws(FileSystemError) {
        try perform("rename", source, writes: true) { (state) throws(FileSystemError) in
            guard let node = state.names.removeValue(forKey: source) else {
                throw FileSystemError(call: "rename", path: source, errno: Self.noEntry)
            }
            state.names[destination] = node
        }
    }

    package func link(_ path: String, as name: String) throws(FileSystemError) {
        try perform("link", path, writes: true) { (state) throws(FileSystemError) in
            guard let node = state.names[path] else {
                throw FileSystemError(call: "link", path: path, errno: Self.noEntry)
            }
            guard state.names[name] == nil else {
                throw FileSystemError(call: "link", path: name, errno: Self.exists)
            }
            state.names[name] = node
        }
    }

    package func remove(_ path: String) throws(FileSystemError) {
        state.withLock { $0.removes }?(path)
        try perform("unlink", path, writes: true) { (state) throws(FileSystemError) in
            guard state.names.removeValue(forKey: path) != nil else {
                throw FileSystemError(call: "unlink", path: path, errno: Self.noEntry)
            }
        }
    }

    package func list(_ directory: String) throws(FileSystemError) -> [String] {
        try perform("opendir", directory, writes: false) { (state) throws(FileSystemError) in
            guard state.directories.contains(directory) else {
                throw FileSystemError(call: "opendir", path: directory, errno: Self.noEntry)
            }
            let prefix = directory + "/"
            return (Array(state.names.keys) + Array(state.directories))
                .filter { $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains("/") }
                .map { String($0.dropFirst(prefix.count)) }.sorted()
        }
    }

    package func createDirectory(_ path: String) throws(FileSystemError) {
        // A directory that is there is found before a read-only disk is.
        let exists = state.withLock { $0.directories.contains(path) }
        try perform("mkdir", path, writes: !exists) { state in
            _ = state.directories.insert(path)
        }
    }

    package func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
        try perform("open", path, writes: false) { _ in }
        return SimulatedDirectory(disk: self, path: path)
    }

    fileprivate func synchronizeDirectory(at path: String) throws(FileSystemError) {
        try perform("fsync", path, writes: false) { state in
            let prefix = path + "/"
            func isInside(_ name: String) -> Bool {
                name.hasPrefix(prefix) && !name.dropFirst(prefix.count).contains("/")
            }
            for name in state.syncedNames.keys where isInside(name) && state.names[name] == nil {
                state.syncedNames[name] = nil
            }
            for (name, node) in state.names where isInside(name) { state.syncedNames[name] = node }
            for directory in state.directories where Self.directory(of: directory) == path {
                state.syncedDirectories.insert(directory)
            }
        }
    }

    /// One system call: counted, possibly made to fail, and nothing after the power went.
    @discardableResult
    fileprivate func perform<Result>(
        _ name: String, _ path: String, writes: Bool,
        _ body: (inout State) throws(FileSystemError) -> Result
    ) throws(FileSystemError) -> Result {
        state.withLock { $0.pause }?()
        let outcome: Swift.Result<Result, FileSystemError> = state.withLock { state in
            state.callCount += 1
            let call = Call(number: state.callCount, name: name, path: path)
            func failing(_ errno: Int32) -> Swift.Result<Result, FileSystemError> {
                .failure(FileSystemError(call: name, path: path, errno: errno))
            }
            if state.isPoweredOff { return failing(Self.inputOutput) }
            if writes && state.isReadOnly { return failing(Self.readOnly) }
            switch state.fault?(call) {
            case .error(let errno): return failing(errno)
            case .powerOff:
                state.isPoweredOff = true
                return failing(Self.inputOutput)
            case .short, nil: break
            }
            do throws(FileSystemError) { return .success(try body(&state)) } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Never fails: a lock goes with its descriptor, whatever `close` returns.
    fileprivate func unlock(_ node: SimulatedFile.Node, from owner: SimulatedFile) {
        state.withLock { _ in
            node.locks[ObjectIdentifier(owner)] = nil
        }
    }

    fileprivate func moveLock(
        on node: SimulatedFile.Node, from owner: SimulatedFile, to other: SimulatedFile
    ) {
        state.withLock { _ in
            node.locks[ObjectIdentifier(other)] = node.locks.removeValue(
                forKey: ObjectIdentifier(owner))
        }
    }

    /// How many bytes of a write are taken: fewer when the disk says so or is full.
    fileprivate func write(
        _ bytes: [UInt8], to node: SimulatedFile.Node, at offset: Int, path: String
    ) throws(FileSystemError) -> Int {
        try perform("pwrite", path, writes: true) { (state) throws(FileSystemError) in
            var count = bytes.count
            let call = Call(number: state.callCount, name: "pwrite", path: path)
            if case .short(let most)? = state.fault?(call) { count = min(count, most) }
            let used = state.usedBytes
            let growth = max(0, offset + count - node.bytes.count)
            if growth > state.capacity - used {
                count = max(0, node.bytes.count + max(0, state.capacity - used) - offset)
                if count == 0 {
                    throw FileSystemError(call: "pwrite", path: path, errno: Self.noSpace)
                }
            }
            node.write(Array(bytes[..<count]), at: offset)
            return count
        }
    }
}

extension SimulatedDisk.Survival {
    /// The directories that survive: each whose name does, in one that does.
    fileprivate mutating func directories(of state: SimulatedDisk.State) -> Set<String> {
        var surviving: Set<String> = [SimulatedDisk.root]
        // A directory comes before those in it.
        for directory in state.directories.sorted()
        where surviving.contains(SimulatedDisk.directory(of: directory))
            && keepsName(state.syncedDirectories.contains(directory))
        { surviving.insert(directory) }
        return surviving
    }

    mutating func keepsName(_ isSynced: Bool) -> Bool {
        if isSynced { return true }
        switch self {
        case .nothing, .prefix: return false
        case .everything: return true
        case .random(var generator):
            defer { self = .random(generator) }
            return Bool.random(using: &generator)
        }
    }
}

/// An open directory on a ``SimulatedDisk``.
private final class SimulatedDirectory: Directory {
    private let disk: SimulatedDisk
    private let path: String

    init(disk: SimulatedDisk, path: String) {
        self.disk = disk
        self.path = path
    }

    func synchronize() throws(FileSystemError) { try disk.synchronizeDirectory(at: path) }
    func close() {}
}

/// An open file on a ``SimulatedDisk``.
package final class SimulatedFile: File {
    package let path: String
    private let disk: SimulatedDisk
    private let node: Node

    fileprivate init(disk: SimulatedDisk, node: Node, path: String) {
        self.disk = disk
        self.node = node
        self.path = path
    }

    package func renamed(to path: String) -> any File {
        let file = SimulatedFile(disk: disk, node: node, path: path)
        disk.moveLock(on: node, from: self, to: file)
        return file
    }

    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        try disk.perform("pread", path, writes: false) { _ in
            guard offset < UInt64(node.bytes.count) else { return 0 }
            let part = node.bytes[Int(offset)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError)
        -> Int
    {
        try disk.write([UInt8](bytes), to: node, at: Int(offset), path: path)
    }

    package func synchronizeData() throws(FileSystemError) {
        try disk.perform("fdatasync", path, writes: false) { _ in node.synchronize() }
    }

    package func truncate(to size: UInt64) throws(FileSystemError) {
        try disk.perform("ftruncate", path, writes: true) { _ in node.truncate(to: Int(size)) }
    }

    package func size() throws(FileSystemError) -> UInt64 {
        try disk.perform("fstat", path, writes: false) { _ in UInt64(node.bytes.count) }
    }

    package func tryLock(_ lock: FileLock) throws(FileSystemError) -> Bool {
        try disk.perform("flock", path, writes: false) { _ in
            let others = node.locks.filter { $0.key != ObjectIdentifier(self) }.values
            let isFree = lock == .exclusive ? others.isEmpty : !others.contains(.exclusive)
            if isFree { node.locks[ObjectIdentifier(self)] = lock }
            return isFree
        }
    }

    deinit { close() }

    package func close() {
        disk.unlock(node, from: self)
    }

    /// A file's bytes, apart from its names.
    ///
    /// `@unchecked Sendable`: only touched inside `SimulatedDisk.perform`, under its lock.
    final class Node: @unchecked Sendable {
        private(set) var bytes: [UInt8]
        private var synced: [UInt8]
        /// Written since the last sync, in order; a truncation has no bytes.
        private var unsynced: [(offset: Int, bytes: [UInt8]?)] = []
        /// By the open file that has each.
        var locks: [ObjectIdentifier: FileLock] = [:]

        init(bytes: [UInt8]) {
            self.bytes = bytes
            synced = bytes
        }

        func copy() -> Node {
            let copy = Node(bytes: synced)
            copy.bytes = bytes
            copy.unsynced = unsynced
            return copy
        }

        func write(_ new: [UInt8], at offset: Int) {
            Self.apply(new, at: offset, to: &bytes)
            unsynced.append((offset, new))
        }

        func truncate(to size: Int) {
            Self.resize(&bytes, to: size)
            unsynced.append((size, nil))
        }

        func synchronize() {
            synced = bytes
            unsynced = []
        }

        func crashed(at path: String, _ survival: inout SimulatedDisk.Survival) -> Node {
            var result = synced
            switch survival {
            case .nothing: break
            case .everything: result = bytes
            case .prefix(var count, of: let only):
                guard path == only else { break }
                for (offset, new) in unsynced {
                    guard let new else {
                        Self.resize(&result, to: offset)
                        continue
                    }
                    Self.apply(Array(new.prefix(count)), at: offset, to: &result)
                    count -= min(count, new.count)
                }
            case .random(var generator):
                for (offset, new) in unsynced {
                    guard let new else {
                        if Bool.random(using: &generator) { Self.resize(&result, to: offset) }
                        continue
                    }
                    Self.applySectors(of: new, at: offset, to: &result, &generator)
                }
                survival = .random(generator)
            }
            return Node(bytes: result)
        }

        private static func applySectors(
            of new: [UInt8], at offset: Int, to bytes: inout [UInt8],
            _ generator: inout SeededGenerator
        ) {
            let sector = 512
            var start = 0
            while start < new.count {
                let end = min((offset + start) / sector * sector + sector - offset, new.count)
                if Bool.random(using: &generator) {
                    apply(Array(new[start..<end]), at: offset + start, to: &bytes)
                }
                start = end
            }
        }

        private static func apply(_ new: [UInt8], at offset: Int, to bytes: inout [UInt8]) {
            guard !new.isEmpty else { return }
            if bytes.count < offset + new.count { resize(&bytes, to: offset + new.count) }
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
        }

        private static func resize(_ bytes: inout [UInt8], to size: Int) {
            if size < bytes.count {
                bytes.removeLast(bytes.count - size)
            } else {
                bytes += [UInt8](repeating: 0, count: size - bytes.count)
            }
        }
    }
}
