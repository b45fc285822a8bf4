import CLibwebsockets
import Threads

/// What libwebsockets itself has to say: errors and warnings, without its timestamps.
///
/// The library has one log for the whole process, so there is one of this as well.
package enum LibraryLog {
    package enum Level: Sendable {
        case error
        case warning
    }

    private static let receiver = Lock<(@Sendable (Level, String) -> Void)?>(nil)

    /// Gives the lines to `receive`, which is called on whatever thread the library runs on; `nil`
    /// drops them, which is also what happens before the first call.
    package static func setReceiver(_ receive: (@Sendable (Level, String) -> Void)?) {
        receiver.withLock { $0 = receive }
    }

    /// Called before every context is made, because the library's default is to write to stderr.
    static func install() {
        lws_set_log_level(LLL_ERR | LLL_WARN, receiveLibraryLogLine)
    }

    static func emit(_ level: Level, _ line: String) {
        let receive = receiver.withLock { $0 }
        receive?(level, line)
    }
}

// A top-level function: a closure could inherit an actor's isolation, and the library's thread
// would then trap on entering it.
private func receiveLibraryLogLine(level: Int32, line: UnsafePointer<CChar>?) {
    guard let line else { return }
    var text = String(cString: line)
    while text.last?.isNewline == true { text.removeLast() }
    LibraryLog.emit(level == LLL_ERR ? .error : .warning, text)
}
