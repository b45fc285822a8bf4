import GraphQLLanguage
import RelayCompiler
import RelayJSON

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file of persisted operations: a JSON object from ids to texts.
///
/// It may be that of several targets, which are compiled at once: from reading to writing it is locked, so that no run
/// loses the ids of another.
final class PersistedOperations {
    /// Of the file itself, if there is a link to it.
    private let path: String
    private var texts: JSONObject = [:]
    private var old: [UInt8] = []
    /// Of the file that is locked; -1 for none.
    private var descriptor: Int32 = -1
    /// The lock needs a file: one that was made for it goes again if nothing is written to it.
    private var isNew = false

    /// - Parameter isWritten: without it nothing is locked; the file is replaced as a whole, so that what is read is.
    /// - Throws: if the file cannot be read, or is something else.
    init(_ path: String, isWritten: Bool) throws(FileFailure) {
        self.path = ProjectFiles.target(path)
        if isWritten { try lock() }
        guard ProjectFiles.exists(self.path) else { return }
        old = try ProjectFiles.read(self.path)
        if old.isEmpty { return }
        texts = try Self.texts(old, path)
    }

    deinit {
        if isNew { try? ProjectFiles.remove(path) }
        // Closing it ends the lock.
        if descriptor >= 0 { close(descriptor) }
    }

    private static func texts(
        _ bytes: [UInt8], _ path: String
    ) throws(FileFailure) -> JSONObject {
        func failure(_ problem: String) -> FileFailure {
            FileFailure(
                "\(path) is not a file of persisted operations, a JSON object from ids to texts: "
                    + "\(problem). Name another with --persist. Nothing was written.")
        }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: bytes) } catch {
            throw failure("it is not JSON")
        }
        guard let texts = value.object else { throw failure("it is not an object") }
        if let member = texts.first(where: { $0.value.string == nil }) {
            throw failure("the value of \"\(member.key)\" is not a string")
        }
        // Settings and translations are objects of strings as well, and would be lost on their readers.
        if let member = texts.first(where: { !isDocument($0.value.string ?? "") }) {
            throw failure("the value of \"\(member.key)\" is no GraphQL document")
        }
        return texts
    }

    private static func isDocument(_ text: String) -> Bool {
        do throws(DocumentError) {
            _ = try Document(parsing: text)
            return true
        } catch {
            return false
        }
    }

    // MARK: The lock

    private func lock() throws(FileFailure) {
        try ProjectFiles.createFolder(of: path)
        // Others that wait for the lock come first at most once each. It is another file every time only where a disk
        // numbers its files anew for every call.
        for _ in 0..<10_000 {
            guard openOrCreate() else {
                throw FileFailure(
                    "\(path) cannot be opened: \(String(cString: strerror(errno))).")
            }
            // On a disk without locks there is no more than that the file is replaced as a whole.
            while flock(descriptor, LOCK_EX) < 0 && errno == EINTR {}
            // Whoever had the lock has replaced the file.
            var (locked, named) = (stat(), stat())
            if fstat(descriptor, &locked) == 0, stat(path, &named) == 0,
                locked.st_dev == named.st_dev, locked.st_ino == named.st_ino
            {
                return
            }
            close(descriptor)
            (descriptor, isNew) = (-1, false)
        }
        throw FileFailure("\(path) cannot be locked: it is another file whenever it is opened.")
    }

    /// - Returns: false if neither works; `errno` says why.
    private func openOrCreate() -> Bool {
        while true {
            // Some network disks lock only what may be written.
            for mode in [O_RDWR, O_RDONLY] {
                descriptor = open(path, mode | O_CLOEXEC | O_NONBLOCK)
                if descriptor >= 0 { return true }
            }
            if errno != ENOENT { return false }
            descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            if descriptor >= 0 {
                isNew = true
                return true
            }
            if errno != EEXIST { return false }
        }
    }

    // MARK: Changing it

    /// Adds texts. Those of earlier versions stay: clients may still send their ids.
    /// - Returns: the new contents; nil if they are the old ones.
    func adding(_ persisted: [(id: String, text: String)]) -> [UInt8]? {
        for (id, text) in persisted { texts[id] = .string(text) }
        var lines = texts.map { (id: $0.key, text: $0.value) }.sorted { $0.id < $1.id }.map {
            "  \(JSONValue.string($0.id).text): \($0.text.text)"
        }
        lines = ["{", lines.joined(separator: ",\n"), "}", ""]
        let bytes = Array(lines.joined(separator: "\n").utf8)
        return bytes == old ? nil : bytes
    }

    func write(_ bytes: [UInt8]) throws(FileFailure) {
        try ProjectFiles.write(bytes, to: path)
        isNew = false
    }
}
