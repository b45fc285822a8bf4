#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why the command cannot continue, in one line.
package struct CommandFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Reads a text file that the user named.
package func readText(_ path: String, _ what: String) throws -> String {
    let bytes = try readFile(path, what)
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let repaired = String(decoding: bytes, as: UTF8.self).utf8
    let lines = zip(bytes, repaired).prefix { $0 == $1 }.count { $0.0 == UInt8(ascii: "\n") }
    throw CommandFailure(
        "Could not read the \(what) file \(path): line \(lines + 1) is not UTF-8.")
}

/// Reads a file that the user named.
package func readFile(_ path: String, _ what: String) throws -> [UInt8] {
    guard let file = fopen(path, "rb") else {
        throw CommandFailure(
            "Could not open the \(what) file \(path): \(String(cString: strerror(errno))).")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&buffer, 1, buffer.count, file)
        bytes += buffer[..<count]
        if count == buffer.count { continue }
        if ferror(file) != 0 {
            throw CommandFailure(
                "Could not read the \(what) file \(path): \(String(cString: strerror(errno))).")
        }
        return bytes
    }
}
