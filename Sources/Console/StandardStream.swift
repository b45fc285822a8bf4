import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The streams that a program is started with.
package enum StandardStream: Int32 {
    case input = 0
    case output = 1
    case error = 2

    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Whether a person types and reads.
    package static var areBothTerminals: Bool { input.isTerminal && output.isTerminal }

    /// Writes all bytes, unbuffered.
    /// - Returns: what hindered it, an `errno`; nil when all is written.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>) -> Int32? {
        let bytes = Array(bytes)
        return bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                #if canImport(Glibc)
                    let count = Glibc.write(rawValue, piece.baseAddress, piece.count)
                #elseif canImport(Musl)
                    let count = Musl.write(rawValue, piece.baseAddress, piece.count)
                #else
                    let count = Darwin.write(rawValue, piece.baseAddress, piece.count)
                #endif
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}

/// Writes to standard output and waits for nothing: `print` would keep lines back in a pipe, and flushing
/// its buffer waits for the thread that is blocked in reading standard input.
package func printAtOnce(_ text: String) { StandardStream.output.write(text.utf8) }

/// Writes a line to standard error; one write, so that lines of several threads do not mix.
package func complain(_ line: String) {
    ProgressBar.clear()
    StandardStream.error.write((line + "\n").utf8)
}

/// What comes on standard input, line by line, to its end. Read on a thread of its own, because reading
/// blocks.
package func inputLines() -> AsyncStream<String> {
    AsyncStream { continuation in
        DispatchQueue(label: "relay.input").async {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
    }
}

/// A value of the environment that the program was started with.
package func environmentValue(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}
