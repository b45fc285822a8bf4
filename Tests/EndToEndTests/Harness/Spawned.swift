import Foundation
import Threads

/// A child process and our ends of its three pipes.
///
/// Spawned by hand: Foundation's `Process` closes every possible descriptor in each child, one by one, and
/// loses ends when many start at once.
struct Spawned: Sendable {
    let pid: Int32
    /// Write to its standard input.
    let input: Int32
    /// Read from its standard output.
    let output: Int32
    /// Read from its standard error.
    let errors: Int32

    /// One at a time, so that no child gets hold of another's pipes.
    private static let turn = Lock(())

    init(
        _ program: String, _ arguments: [String], in directory: String,
        environment: [String: String]
    ) throws {
        self = try Self.turn.withLock { _ in
            // The shell changes the directory, which posix_spawn cannot do everywhere, and becomes the
            // program.
            try Self(
                ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, directory, program] + arguments,
                environment.map { "\($0.key)=\($0.value)" })
        }
    }

    private init(_ arguments: [String], _ environment: [String]) throws {
        let pipes = try (0..<3).map { _ in try Self.pipe() }
        // The child's ends, by descriptor: it reads the first pipe and writes to the others.
        let ends = [pipes[0].read, pipes[1].write, pipes[2].write]
        defer { for end in ends { close(end) } }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, end) in ends.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, end, Int32(descriptor))
        }

        // Signals are as a shell would have them, whatever the test runner made of its own.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        let argumentTexts = arguments.map { strdup($0) } + [nil]
        let environmentTexts = environment.map { strdup($0) } + [nil]
        defer { for text in argumentTexts + environmentTexts { free(text) } }
        var child: pid_t = 0
        let error = posix_spawn(
            &child, arguments[0], &actions, &attributes, argumentTexts, environmentTexts)
        (pid, input, output, errors) = (child, pipes[0].write, pipes[1].read, pipes[2].read)
        guard error == 0 else {
            for end in [input, output, errors] { close(end) }
            throw Failure("Could not start \(arguments[0]): \(String(cString: strerror(error)))")
        }
    }

    /// A pipe that a child only gets where it is handed over.
    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else {
            throw Failure("Could not make a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
