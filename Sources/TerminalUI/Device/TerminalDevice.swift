/// A terminal's two directions, as bytes: the system's, or one in memory.
package protocol TerminalDevice: AnyObject, Sendable {
    /// What it has now.
    var size: Size { get }

    /// Prepares it for a screen, and begins to listen.
    /// - Parameter receive: is called for one notice at a time, on the device's own thread.
    /// - Throws: ``TerminalError``; then nothing has changed.
    func open(_ receive: @escaping @Sendable (TerminalNotice) -> Void) throws

    /// Writes all of it. Waits if the terminal does not take it: so whoever draws draws less often. Nothing is written
    /// before ``open(_:)``, after ``close()`` and while suspended.
    func write(_ bytes: [UInt8])

    /// What is written last, however the program ends, and whenever it is suspended.
    func setFarewell(_ bytes: [UInt8])

    /// Lets the user go back to the shell for a while, as Ctrl-Z does elsewhere.
    func suspend()

    /// Leaves the terminal as it was found. Waits until the last notice was received, unless called by its receiver:
    /// not to be called while holding a lock that the receiver takes. May be called more than once.
    func close()
}

/// What a device has to say.
package enum TerminalNotice: Sendable, Equatable {
    /// Some were read.
    case bytes([UInt8])
    /// None came for a while after the last ones: see ``InputDecoder/timeout()``. Said once.
    case quiet
    case resized
    /// After a suspension, whoever asked for it: nothing of what was written holds any more.
    case resumed
    case ended(TerminalEnd)
}

/// Why a terminal is of no use any more. Its owner closes it.
package enum TerminalEnd: Sendable, Hashable {
    /// A signal asks the program to end. When the same is asked a second time, it ends at once.
    case signal(Int32)
    /// Nobody is there: the window was closed, the connection lost.
    case gone
}

/// Why there is no screen.
public struct TerminalError: Error, CustomStringConvertible {
    /// What was tried, and why it failed.
    public let description: String

    package init(_ description: String) { self.description = description }
}
