import Disk

/// A file that tells a copy of a shared journal from a log that a server may append to by itself.
///
/// A server alone that went on with a copy would acknowledge, with the history's own cursors, what the journal never has.
enum CopyMark {
    static let fileName = "journal-copy"

    /// - Parameter journal: its address, without a password.
    static func put(in directory: String, _ fileSystem: any FileSystem, journal: String) {
        // Without it the copy is as good; only the mistake is not noticed.
        try? fileSystem.replaceFile(
            fileName, in: directory, with: Array("\(journal)\n".utf8), as: .replacePrivate)
    }

    /// - Throws: if a directory is a copy.
    static func check(
        _ directory: String, _ fileSystem: any FileSystem
    ) throws(ConfigurationError) {
        guard let names = try? fileSystem.list(directory), names.contains(fileName) else { return }
        throw ConfigurationError(
            description: """
                The server was not started: \(directory) is a server's copy of a shared journal, which \(directory)/\(fileName) \
                names. Serve it with --journal; `relay journal export` makes a log of its own of the journal.
                """)
    }
}
