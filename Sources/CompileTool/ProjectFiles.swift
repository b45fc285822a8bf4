import Disk
import RelayCompiler

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why a file cannot be read or written, in one sentence.
struct FileFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static func nothingBehindLink(_ path: String) -> FileFailure {
        FileFailure("\(path) is a link, and there is no file at its other end.")
    }
}

/// The files of a project, by their paths.
enum ProjectFiles {
    private static let disk = POSIXFileSystem()

    // MARK: Paths

    static func join(_ folder: String, _ path: String) -> String {
        if folder.isEmpty || path.hasPrefix("/") { return path }
        return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
    }

    /// The folder that a file is in; empty for the current one.
    static func folder(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The same for all ways to write a path, if there is such a file.
    static func normalized(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    // MARK: Files

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func read(_ path: String) throws(FileFailure) -> [UInt8] {
        switch FileStatus(path)?.kind {
        case .file, nil: break
        case .folder: throw FileFailure("\(path) is a folder, not a file.")
        // Who opens a FIFO waits for somebody to write to it.
        case .other(let what): throw FileFailure("\(path) is \(what), not a file.")
        }
        let contents: [UInt8]?
        do throws(FileSystemError) {
            contents = try disk.contents(of: path)
        } catch {
            throw FileFailure("\(path) cannot be read: \(error).")
        }
        if let contents { return contents }
        guard FileStatus.isLink(path) else { throw FileFailure("There is no file \(path).") }
        throw .nothingBehindLink(path)
    }

    /// Replaces a file, or the file that a link is to. Whoever reads meanwhile has the old contents or the new ones.
    static func write(_ bytes: [UInt8], to path: String) throws(FileFailure) {
        let path = target(path)
        do throws(FileSystemError) {
            try createFolders(folder(path))
            // Its name is hidden, and that of no other file: another run may write the same one.
            let number = String(UInt64.random(in: 0 ... .max), radix: 36)
            let other = join(folder(path), ".\(name(path)).\(number).new")
            do throws(FileSystemError) {
                let file = try disk.open(other, .replace)
                defer { file.close() }
                try file.writeAll(bytes, at: 0)
                try disk.rename(other, to: path)
            } catch {
                try? disk.remove(other)
                // The other name says nothing to anybody, and is another each time.
                throw FileSystemError(call: error.call, path: path, errno: error.errno)
            }
        } catch {
            throw FileFailure("\(path) cannot be written: \(error).")
        }
    }

    /// The file that is at the other end of links; it need not be there. Any other path is returned as it is.
    static func target(_ path: String) -> String {
        var path = path
        // As many as systems follow.
        for _ in 0..<40 where FileStatus.isLink(path) {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &buffer, buffer.count)
            if count <= 0 { break }
            path = join(
                folder(path),
                String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return path
    }

    static func remove(_ path: String) throws(FileFailure) {
        do throws(FileSystemError) { try disk.remove(path) } catch {
            throw FileFailure("\(path) cannot be removed: \(error).")
        }
    }

    static func createFolder(of path: String) throws(FileFailure) {
        do throws(FileSystemError) { try createFolders(folder(path)) } catch {
            throw FileFailure("The folder of \(path) cannot be made: \(error).")
        }
    }

    private static func createFolders(_ path: String) throws(FileSystemError) {
        if path.isEmpty || exists(path) { return }
        try createFolders(folder(path))
        try disk.createDirectory(path)
    }

    // MARK: Folders

    /// What is where a file is to be written.
    enum Output {
        case missing
        /// Written by the compiler, or empty: nothing is lost with it.
        case generated([UInt8])
        /// Anything else; of a file its contents.
        case foreign([UInt8])
    }

    static func output(_ path: String) throws(FileFailure) -> Output {
        guard let status = FileStatus(path) else { return .missing }
        guard case .file = status.kind else { return .foreign([]) }
        let bytes = try read(path)
        let isGenerated = bytes.isEmpty || bytes.starts(with: GeneratedCode.header.utf8)
        return isGenerated ? .generated(bytes) : .foreign(bytes)
    }

    /// The generated files in a folder; none if there is no such folder.
    static func generated(in folder: String) throws(FileFailure) -> [String] {
        guard exists(folder) else { return [] }
        var found: [String] = []
        for name in try names(in: folder) where name.hasSuffix(".graphql.swift") {
            let path = join(folder, name)
            if case .generated(let bytes) = try output(path), !bytes.isEmpty { found.append(path) }
        }
        return found.sorted()
    }

    static func names(in folder: String) throws(FileFailure) -> [String] {
        do throws(FileSystemError) { return try disk.list(folder) } catch {
            throw FileFailure("The folder \(folder) cannot be read: \(error).")
        }
    }
}

/// Prints a line to standard output, also while the command goes on and its output is a pipe.
func printAtOnce(_ line: String) { write(line, to: 1) }

/// Prints a line to standard error.
func complain(_ line: String) { write(line, to: 2) }

private func write(_ line: String, to descriptor: Int32) {
    var rest = Array("\(line)\n".utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
        if count <= 0 { return }
        rest = rest.dropFirst(count)
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
