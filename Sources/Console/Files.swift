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
    try withFile(path, what) { file in
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            bytes += buffer[..<count]
            if count < buffer.count { return bytes }
        }
    }
}

/// Reads a file that the user named, one line at a time.
/// - Parameter take: gets every line that is not empty, without what ends it, and its number from 1.
package func readLines(
    _ path: String, _ what: String,
    _ take: (_ number: Int, _ line: UnsafeRawBufferPointer) throws -> Void
) throws {
    try withFile(path, what) { file in
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        for number in 1... {
            var count = getline(&line, &capacity, file)
            if count < 0 {
                if feof(file) != 0 { return }
                throw CommandFailure(
                    "Could not read the \(what) file \(path): \(String(cString: strerror(errno))).")
            }
            if line?[count - 1] == CChar(UInt8(ascii: "\n")) { count -= 1 }
            if count > 0 { try take(number, UnsafeRawBufferPointer(start: line, count: count)) }
        }
    }
}

private func withFile<Result>(
    _ path: String, _ what: String, _ read: (UnsafeMutablePointer<FILE>) throws -> Result
) throws -> Result {
    guard let file = fopen(path, "rb") else {
        throw CommandFailure(
            "Could not open the \(what) file \(path): \(String(cString: strerror(errno))).")
    }
    defer { fclose(file) }
    let result = try read(file)
    if ferror(file) == 0 { return result }
    throw CommandFailure(
        "Could not read the \(what) file \(path): \(String(cString: strerror(errno))).")
}
