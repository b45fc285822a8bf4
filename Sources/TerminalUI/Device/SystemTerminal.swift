import Synchronization
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The terminal that the program was started in.
///
/// While it is open, keys come as they are (raw mode), and signals are told instead of ending the program. A thread of
/// its own sleeps until something happens. However the program ends, the terminal is restored: after ``close()``, at
/// exit, after a signal, after a crash; SIGKILL alone leaves it as it is.
package final class SystemTerminal: TerminalDevice {
    private struct State {
        var isOpen = false
        var isSuspended = false
        /// Closed by its other side, or it does not take what is written.
        var isGone = false
        var farewell: [UInt8] = []
        /// Something was written in part.
        var isCut = false
        var thread: BlockingThread?
        var threadNumber: UInt?
    }

    /// How soon something that is being written is given up.
    private static let interruptionMilliseconds: Int32 = 50
    /// After this time without bytes, Escape was a key. Longer than the gaps of a slow line, shorter than one notices.
    private static let quietMilliseconds: Int32 = 50
    private static let isTaken = Lock(false)

    private let input: Int32
    private let output: Int32
    /// Held while something is written, which may take long; see ``interrupt()``.
    private let state = Lock(State())
    /// Where it is written: the same terminal, opened once more, since a descriptor that others share may not be made
    /// non-blocking.
    private let writing: Lock<Int32> = Lock(-1)
    /// Whether what is being written is to be given up.
    private let isInterrupted = Atomic(false)
    /// Whether the thread is to go on: it does not wait for what is written.
    private let isListening = Atomic(false)
    private let original: Lock<termios?> = Lock(nil)
    /// Signals, and 0 for the end, for the thread.
    private let pipe: Lock<(reading: Int32, writing: Int32)> = Lock((-1, -1))

    /// - Parameters:
    ///   - input: the descriptor that is read.
    ///   - output: the one that is written.
    package init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
        self.input = input
        self.output = output
    }

    /// Whether both descriptors are terminals.
    package var isTerminal: Bool { isatty(input) == 1 && isatty(output) == 1 }

    /// At most 2,000 x 1,000, whatever the terminal says; 80 x 24 if it does not.
    package var size: Size {
        var window = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0
        else { return Size(width: 80, height: 24) }
        return Size(width: min(Int(window.ws_col), 2_000), height: min(Int(window.ws_row), 1_000))
    }

    // MARK: - Open, close

    package func open(_ receive: @escaping @Sendable (TerminalNotice) -> Void) throws {
        guard isTerminal else {
            throw TerminalError("Input and output are not a terminal: no screen was opened.")
        }
        guard
            Self.isTaken.withLock({ isTaken in
                defer { isTaken = true }
                return !isTaken
            })
        else { throw TerminalError("Another screen is open in this program.") }
        TerminalRescue.useOwnStack()
        do {
            try prepare()
        } catch {
            Self.isTaken.withLock { $0 = false }
            throw error
        }
        isListening.store(true, ordering: .releasing)
        isInterrupted.store(false, ordering: .releasing)
        state.withLock { state in
            state = State()
            state.isOpen = true
            state.thread = BlockingThread { [self] in listen(receive) }
        }
    }

    private func prepare() throws {
        var settings = termios()
        guard tcgetattr(output, &settings) == 0 else { throw Self.error("read its settings") }
        var ends: [Int32] = [-1, -1]
        guard Self.makePipe(&ends) == 0 else { throw Self.error("make a pipe for signals") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let own = ttyname(output).map { systemOpen($0) } ?? -1
        writing.withLock { $0 = own }
        let pair = (reading: ends[0], writing: ends[1])
        pipe.withLock { $0 = pair }
        original.withLock { $0 = settings }
        TerminalRescue.begin(
            terminal: own < 0 ? output : own, settings: settings, pipe: pair.writing)
        if !setRaw() {
            let error = Self.error("change its settings")
            forget()
            throw error
        }
    }

    private static func makePipe(_ ends: inout [Int32]) -> Int32 {
        #if canImport(Glibc)
            Glibc.pipe(&ends)
        #elseif canImport(Musl)
            Musl.pipe(&ends)
        #else
            Darwin.pipe(&ends)
        #endif
    }

    private static func error(_ what: String) -> TerminalError {
        let reason = String(cString: strerror(errno))
        return TerminalError("Could not \(what) to open the terminal: \(reason).")
    }

    private func setRaw() -> Bool {
        guard var settings = original.withLock({ $0 }) else { return false }
        cfmakeraw(&settings)
        return tcsetattr(output, TCSANOW, &settings) == 0
    }

    private func restoreSettings() {
        guard var settings = original.withLock({ $0 }) else { return }
        tcsetattr(output, TCSANOW, &settings)
    }

    /// Signals are as before, and nothing needs rescue.
    private func forget() {
        TerminalRescue.end()
        pipe.withLock { pipe in
            _ = Self.closeDescriptor(pipe.reading)
            _ = Self.closeDescriptor(pipe.writing)
            pipe = (-1, -1)
        }
        writing.withLock { writing in
            if writing >= 0 { _ = Self.closeDescriptor(writing) }
            writing = -1
        }
    }

    private static func closeDescriptor(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.close(descriptor)
        #elseif canImport(Musl)
            Musl.close(descriptor)
        #else
            Darwin.close(descriptor)
        #endif
    }

    package func close() {
        let (wasOpen, thread) = state.withLock { state -> (Bool, BlockingThread?) in
            defer {
                state.isOpen = false
                state.thread = nil
            }
            return (state.isOpen, state.threadNumber == currentThread() ? nil : state.thread)
        }
        guard wasOpen else { return }
        isListening.store(false, ordering: .releasing)
        interrupt()
        var end: UInt8 = 0
        _ = systemWrite(pipe.withLock { $0.writing }, &end, 1)
        thread?.join()
        state.withLock { sayFarewell(&$0) }
        restoreSettings()
        forget()
        Self.isTaken.withLock { $0 = false }
    }

    package func setFarewell(_ bytes: [UInt8]) {
        state.withLock { state in
            guard state.isOpen else { return }
            state.farewell = bytes
            TerminalRescue.setText(bytes)
        }
    }

    // MARK: - Write

    package func write(_ bytes: [UInt8]) {
        state.withLock { state in
            guard state.isOpen, !state.isSuspended, !state.isGone, !TerminalRescue.isRestored
            else { return }
            switch writeAll(bytes, patience: nil) {
            case .done: break
            case .interrupted: state.isCut = true
            case .failed: state.isGone = true
            }
        }
    }

    /// Has ``write(_:)`` give up if the terminal takes nothing: what comes next must not wait for it.
    private func interrupt() { isInterrupted.store(true, ordering: .releasing) }

    /// A terminal that is stopped, by Ctrl-S for example, does not keep the program from ending.
    private func sayFarewell(_ state: inout State) {
        if state.isGone { return }
        // CAN ends a sequence that was written in part.
        _ = writeAll((state.isCut ? [0x18] : []) + state.farewell, patience: 1_000)
        state.isCut = false
    }

    private enum Written {
        case done
        case interrupted
        case failed
    }

    /// - Parameter patience: how many milliseconds the terminal may take for a part of it; nil: any time, until
    ///   ``interrupt()``.
    private func writeAll(_ bytes: [UInt8], patience: Int32?) -> Written {
        let own = writing.withLock { $0 }
        let descriptor = own < 0 ? output : own
        return bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let count = poll(&waiting, 1, patience ?? Self.interruptionMilliseconds)
                if count == 0 {
                    if patience != nil { return .failed }
                    if isInterrupted.load(ordering: .acquiring) { return .interrupted }
                    continue
                }
                // A terminal that could not be opened once more is written to in parts that it is sure to take.
                let part = own < 0 ? rest.prefix(256) : rest
                let start = UnsafeRawBufferPointer(rebasing: part).baseAddress
                let written = systemWrite(descriptor, start, part.count)
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno != EINTR, errno != EAGAIN {
                    return .failed
                }
            }
            return .done
        }
    }

    package func suspend() {
        // The whole job, as the terminal's own Ctrl-Z would.
        kill(0, SIGTSTP)
    }

    // MARK: - The thread

    private func listen(_ receive: (TerminalNotice) -> Void) {
        state.withLock { $0.threadNumber = currentThread() }
        TerminalRescue.unblockSignals()
        TerminalRescue.useOwnStack()
        defer { TerminalRescue.returnOwnStack() }
        let signals = pipe.withLock { $0.reading }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var isQuiet = true
        var isGone = false
        while isListening.load(ordering: .acquiring) {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                // A negative one is not looked at.
                pollfd(fd: isGone ? -1 : input, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&waiting, 2, isQuiet ? -1 : Self.quietMilliseconds)
            if count == 0 {
                isQuiet = true
                receive(.quiet)
            }
            if count <= 0 { continue }
            if waiting[0].revents != 0, !receiveSignals(from: signals, receive) { return }
            if waiting[1].revents == 0 { continue }
            let bytes = systemRead(input, &buffer, buffer.count)
            if bytes > 0 {
                isQuiet = false
                receive(.bytes(Array(buffer[..<bytes])))
            } else if bytes == 0 || (errno != EINTR && errno != EAGAIN) {
                isGone = true
                isQuiet = true
                receive(.ended(.gone))
            }
        }
    }

    /// - Returns: false when it is over.
    private func receiveSignals(from pipe: Int32, _ receive: (TerminalNotice) -> Void) -> Bool {
        var pending = Self.signals(in: pipe)
        while !pending.isEmpty {
            switch pending.removeFirst() {
            case 0: return false
            case SIGWINCH: receive(.resized)
            case SIGTSTP:
                interrupt()
                pause()
                pending += awaitContinuation(pipe)
                resume(receive)
            case SIGCONT:
                // Stopped by SIGSTOP, unasked: what the shell has done in the meantime is not known.
                interrupt()
                state.withLock { sayFarewell(&$0) }
                resume(receive)
            case let signal:
                // The program ends: whoever writes is to hear of it.
                interrupt()
                receive(.ended(.signal(signal)))
            }
            if !isListening.load(ordering: .acquiring) { return false }
        }
        return true
    }

    private static func signals(in pipe: Int32) -> [Int32] {
        var signals: [Int32] = []
        var byte: UInt8 = 0
        while systemRead(pipe, &byte, 1) == 1 { signals.append(Int32(byte)) }
        return signals
    }

    /// Returns when the program has been continued.
    private func pause() {
        state.withLock { state in
            sayFarewell(&state)
            state.isSuspended = true
            TerminalRescue.setText([])
        }
        restoreSettings()
        TerminalRescue.setDefault(SIGTSTP)
        raise(SIGTSTP)
        TerminalRescue.install(SIGTSTP)
    }

    /// The other signals that came. A job that nobody could continue is not stopped, and gets no SIGCONT.
    private func awaitContinuation(_ pipe: Int32) -> [Int32] {
        var waiting = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, 20)
        return Self.signals(in: pipe).filter { $0 != SIGCONT }
    }

    private func resume(_ receive: (TerminalNotice) -> Void) {
        _ = setRaw()
        isInterrupted.store(false, ordering: .releasing)
        state.withLock { state in
            state.isSuspended = false
            TerminalRescue.setText(state.farewell)
        }
        receive(.resumed)
    }
}

// The names of the methods hide the system's.
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}

private func systemOpen(_ path: UnsafePointer<CChar>) -> Int32 {
    open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
}

private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(file, bytes, count)
}
