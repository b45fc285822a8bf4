import BoundedTesting
import Foundation

/// A program that a test has started: its lines as they come, its end, and signals to it.
final class ChildProcess: Sendable {
    enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// What is known of it so far.
    struct Observed: Sendable {
        var output = Lines()
        var errors = Lines()
        /// Known once it has ended and everything it wrote has been read.
        var exit: Exit?
        /// Lines of the output that the test has taken.
        fileprivate var taken = 0

        /// The next line that the test has not seen.
        fileprivate mutating func takeLine() -> String? {
            guard taken < output.complete.count else { return nil }
            taken += 1
            return output.complete[taken - 1]
        }
    }

    let pid: Int32
    private let input: Int32
    private let observed = Watched(Observed())

    /// - Parameter program: the path of an executable file.
    init(
        _ program: String, _ arguments: [String], in directory: String,
        environment: [String: String]
    ) throws {
        let spawned = try Spawned(program, arguments, in: directory, environment: environment)
        pid = spawned.pid
        input = spawned.input
        Thread.detachNewThread { [observed] in Self.follow(spawned, observed) }
    }

    /// Reads what the program writes until it closes both ends, then waits for its end.
    private static func follow(_ spawned: Spawned, _ observed: Watched<Observed>) {
        var ends = [spawned.output, spawned.errors].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while ends.contains(where: { $0.fd >= 0 }) {
            poll(&ends, nfds_t(ends.count), -1)
            for index in ends.indices where ends[index].fd >= 0 && ends[index].revents != 0 {
                let count = max(0, read(ends[index].fd, &buffer, buffer.count))
                let bytes = buffer[..<count]
                observed.update {
                    if index == 0 { $0.output.receive(bytes) } else { $0.errors.receive(bytes) }
                }
                if count == 0 {
                    close(ends[index].fd)
                    ends[index].fd = -1
                }
            }
        }
        var status: Int32 = 0
        while waitpid(spawned.pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        let exit = signal == 0 ? Exit.code(status >> 8 & 0xff) : Exit.signal(signal)
        observed.update { $0.exit = exit }
    }

    // MARK: To the program

    func write(line: String) throws {
        let bytes = Array((line + "\n").utf8)
        // A line is shorter than what a pipe takes at once.
        guard Foundation.write(input, bytes, bytes.count) == bytes.count else {
            throw Failure("Could not write to the program: \(String(cString: strerror(errno)))")
        }
    }

    func closeInput() { close(input) }

    func send(signal: Int32) {
        if observed.value.exit == nil { kill(pid, signal) }
    }

    // MARK: From the program

    /// The next line on standard output; fails when it ends without one.
    func nextLine(
        _ what: String = "a line", within limit: Duration = .testDeadline
    ) async throws -> String {
        let line = try await observed.wait(for: what, within: limit) { observed -> String?? in
            if let line = observed.takeLine() { return .some(line) }
            return observed.exit == nil ? nil : .some(nil)
        }
        guard let line else { throw Failure("The program ended before \(what): \(observed.value)") }
        return line
    }

    /// Whether there is a line on standard output that the test has not taken, now or soon; fails
    /// when there is none and never will be.
    func hasLine(within limit: Duration) async throws -> Bool {
        let found = try? await observed.wait(for: "a line", within: limit) { observed -> Bool? in
            if observed.taken < observed.output.complete.count { return true }
            return observed.exit == nil ? nil : false
        }
        if found == false { throw Failure("The program ended: \(observed.value)") }
        return found ?? false
    }

    /// Waits until a line on standard error has `text` in it.
    func errorLine(containing text: String) async throws -> String {
        try await observed.wait(for: "\"\(text)\" on standard error") { observed in
            observed.errors.complete.first { $0.contains(text) }
        }
    }

    /// Waits for its end, and for all that it has written.
    func finish(within limit: Duration = .testDeadline) async throws -> Finished {
        try await observed.wait(for: "the end of the program", within: limit) { observed in
            observed.exit.map {
                Finished(
                    exit: $0, output: observed.output.complete, errors: observed.errors.complete)
            }
        }
    }
}

/// What a program left behind.
struct Finished: Sendable {
    let exit: ChildProcess.Exit
    /// Lines of standard output.
    let output: [String]
    /// Lines of standard error.
    let errors: [String]
}

/// Lines that come through a pipe.
struct Lines: Sendable {
    private(set) var complete: [String] = []
    private var partial: [UInt8] = []

    /// Takes in what was read; nothing stands for the end.
    mutating func receive(_ bytes: some Collection<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") { endLine() } else { partial.append(byte) }
        }
        if bytes.isEmpty && !partial.isEmpty { endLine() }
    }

    private mutating func endLine() {
        complete.append(String(decoding: partial, as: UTF8.self))
        partial = []
    }
}
