import Console

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A command whose exit status decides, as `git bisect run` has it: 0 is good, 125 cannot tell, anything
/// else up to 127 is bad, and more, or a signal, ends the search.
///
/// `{}` in its arguments stands for a directory that is made for it. Its standard output goes to standard
/// error, so that the search's own result stays alone.
struct TrialCommand {
    enum Verdict {
        case good
        case bad
        case cannotTell
    }

    private static let placeholder = "{}"
    private let words: [String]

    init(_ words: [String]) { self.words = words }

    /// Whether it wants a directory.
    var wantsDirectory: Bool { words.contains { $0.contains(Self.placeholder) } }

    /// - Parameters:
    ///   - directory: stands for `{}`.
    ///   - input: a file to be its standard input.
    ///   - environment: added to that of this process.
    func run(
        directory: String? = nil, input: String = "/dev/null", environment: [String: String] = [:]
    ) throws -> Verdict {
        let words = words.map { $0.replacing(Self.placeholder, with: directory ?? "") }
        let status = try Interruption.ending(
            { kill(-$0, SIGTERM) },
            start: { try spawn(words, input: input, environment: environment) },
            wait(for:))
        switch (status & 0x7f, status >> 8 & 0xff) {
        case (0, 0): return .good
        case (0, 125): return .cannotTell
        case (0, 1...127): return .bad
        case (0, let code): throw failure("ended with status \(code), which decides nothing")
        case (let signal, _): throw failure("was ended by signal \(signal)")
        }
    }

    private func failure(_ what: String) -> CommandFailure {
        CommandFailure("The command \(words.joined(separator: " ")) \(what).")
    }

    private func wait(for child: pid_t) throws -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else {
                throw failure("could not be waited for: \(String(cString: strerror(errno)))")
            }
        }
        return status
    }

    private func spawn(
        _ words: [String], input: String, environment: [String: String]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        // It gets signals as any command does, although this process handles them differently.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // Its own process group, so that what it starts ends with it.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
                | Int16(POSIX_SPAWN_SETPGROUP))
        let variables = ProcessInfo.processInfo.environment
            .merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        let arguments = words.map { strdup($0) } + [nil]
        let environmentTexts = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environmentTexts { free(text) } }
        var child: pid_t = 0
        let error = posix_spawnp(
            &child, words[0], &actions, &attributes, arguments, environmentTexts)
        guard error == 0 else {
            throw CommandFailure(
                "Could not start \(words[0]): \(String(cString: strerror(error))).")
        }
        return child
    }
}

/// A directory for what a command needs for a moment; gone when the command ends, however it ends.
struct Workspace: Sendable {
    let path: String

    static func with<Result>(_ body: (Workspace) throws -> Result) throws -> Result {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "relay-\(UUID().uuidString)").path(percentEncoded: false)
        let remove: @Sendable () -> Void = { try? FileManager.default.removeItem(atPath: path) }
        return try Interruption.cleaning(remove) {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
            defer { remove() }
            return try body(Workspace(path: path))
        }
    }

    /// Removes something in it.
    func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in it, and gives its path.
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path + "/" + name
        guard FileManager.default.createFile(atPath: file, contents: Data(bytes)) else {
            throw CommandFailure("Could not write \(file): \(String(cString: strerror(errno))).")
        }
        return file
    }
}
