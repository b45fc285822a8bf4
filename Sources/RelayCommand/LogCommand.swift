import ArgumentParser

/// `relay log`: what is in a log.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Look at a log, check it, copy it.",
        subcommands: [LogList.self])
}
