import ArgumentParser

/// `relay log`: what is in a log.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Look at a log, check it, copy it.",
        discussion: """
            list, show, tail, stats, verify, explain and export never write to the log's \
            directory, and also work while a server is writing to the log. The others need \
            exclusive access.
            """,
        subcommands: [
            LogList.self, LogShow.self, LogTail.self, LogStats.self, LogExplain.self,
            LogVerify.self,
            LogExport.self, LogImport.self, LogRepairCommand.self, LogCompact.self, LogFork.self,
            LogMinimize.self,
        ])
}
