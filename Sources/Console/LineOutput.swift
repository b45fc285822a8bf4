#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Standard output of commands that may print much: line by line for a terminal, in large pieces for
/// a pipe or a file.
///
/// A write that fails ends the command: an export to a full disk must not look like a whole one.
package final class LineOutput {
    private var waiting: [UInt8] = []
    private let isTerminal = StandardStream.output.isTerminal
    private let sizeLimit: Int

    package init() {
        // The reader may have seen enough; the write reports that, not a signal.
        signal(SIGPIPE, SIG_IGN)
        sizeLimit = isTerminal ? 0 : 1 << 16
    }

    /// Prints a text and ends the line.
    package func write(_ line: String) throws {
        waiting.append(contentsOf: line.utf8)
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count > sizeLimit { try flush() }
    }

    /// Prints bytes as they are.
    package func write(bytes: [UInt8]) throws {
        waiting += bytes
        if waiting.count > sizeLimit { try flush() }
    }

    /// Hands over everything that waits.
    /// - Throws: ``ReaderLeft``, or why it could not be written.
    package func flush() throws {
        defer { waiting.removeAll(keepingCapacity: true) }
        if isTerminal, !waiting.isEmpty { ProgressBar.clear() }
        switch StandardStream.output.write(waiting) {
        case nil: return
        case EPIPE: throw ReaderLeft()
        case let failure?:
            throw CommandFailure(
                "Could not write to standard output: \(String(cString: strerror(failure))).")
        }
    }
}

/// Standard output no longer has a reader, as with `| head -1`: not a failure, but the end.
package struct ReaderLeft: Error {}
