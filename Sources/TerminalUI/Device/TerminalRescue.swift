#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Restores the terminal where nothing else of the program may run any more: in handlers of signals, and at exit.
///
/// What handlers need lies in memory that is prepared beforehand, and they call only what signal-safety(7) allows. One
/// terminal of a process can have this.
enum TerminalRescue {
    /// The program is broken.
    private static let crashes = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT]
    /// It is asked to end.
    static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// Nothing ends.
    private static let changes = [SIGTSTP, SIGCONT, SIGWINCH]

    /// - Parameters:
    ///   - terminal: written to.
    ///   - settings: what it had.
    ///   - pipe: gets the number of each signal that is no crash. Non-blocking.
    static func begin(terminal: Int32, settings: termios, pipe: Int32) {
        if previousActions == nil {
            previousActions = .allocate(capacity: 65)
            previousActions?.initialize(repeating: sigaction(), count: 65)
            // Whoever calls exit(3) ends the program without closing anything. Not a child that was forked: the terminal
            // is its parent's.
            atexit { if getpid() == ownNumber { restoreTerminal() } }
        }
        ownNumber = getpid()
        let first = UnsafeMutablePointer<Farewell>.allocate(capacity: 1)
        first.initialize(to: Farewell(terminal: terminal, settings: settings))
        farewell = first
        signalPipe = pipe
        endingCount = 0
        hasRestored = false
        for signal in crashes + endings + changes {
            sigaction(signal, nil, previousActions?.advanced(by: Int(signal)))
            install(signal)
        }
    }

    /// Whether the process is about to end, and the terminal as it was found: nothing may be written to it any more.
    static var isRestored: Bool { hasRestored }

    /// What is written before the settings are restored.
    static func setText(_ bytes: [UInt8]) {
        guard let old = farewell else { return }
        // A handler may be reading the old one, on another thread: it is left as it is, some hundred bytes for each of
        // the few changes.
        let text = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        text.initialize(from: bytes, count: bytes.count)
        let new = UnsafeMutablePointer<Farewell>.allocate(capacity: 1)
        new.initialize(
            to: Farewell(
                terminal: old.pointee.terminal, settings: old.pointee.settings, text: text,
                count: bytes.count))
        farewell = new
    }

    /// Has handlers run on a stack of their own on this thread, which may overflow its own: it stays for as long as the
    /// thread.
    static func useOwnStack() {
        var old = stack_t()
        guard sigaltstack(nil, &old) == 0, old.ss_flags & Int32(SS_DISABLE) != 0 else { return }
        let size = 64 << 10
        var own = stack_t(ss_sp: malloc(size), ss_flags: 0, ss_size: size)
        sigaltstack(&own, nil)
    }

    /// Gives it back, before the thread ends.
    static func returnOwnStack() {
        var none = stack_t()
        none.ss_flags = Int32(SS_DISABLE)
        var own = stack_t()
        if sigaltstack(&none, &own) == 0, own.ss_flags & Int32(SS_DISABLE) == 0 { free(own.ss_sp) }
    }

    /// Everything is restored, or will be by others.
    static func end() {
        farewell = nil
        for signal in crashes + endings + changes { restore(signal) }
        signalPipe = -1
    }

    /// On this thread: Dispatch's workers block signals, and threads that they start inherit that. A thread that cannot
    /// be sent SIGTSTP cannot stop the program either.
    static func unblockSignals() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in endings + changes { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Lets a signal do what it does without any handler.
    static func setDefault(_ signal: Int32) {
        var action = sigaction()
        sigaction(signal, &action, nil)
    }

    /// Unless the signal is ignored, as nohup(1) wants it.
    static func install(_ signal: Int32) {
        guard let previous = previousActions?[Int(signal)] else { return }
        let isCrash = crashes.contains(signal)
        if !isCrash, signal != SIGWINCH, signal != SIGCONT, ignores(previous) { return }
        var action = sigaction()
        let handler = isCrash ? crash : tell
        #if canImport(Darwin)
            action.__sigaction_u.__sa_sigaction = handler
        #elseif canImport(Musl)
            action.__sa_handler.sa_sigaction = handler
        #else
            action.__sigaction_handler.sa_sigaction = handler
        #endif
        action.sa_flags = Int32(SA_SIGINFO) | Int32(SA_RESTART) | Int32(SA_ONSTACK)
        // Nothing may come between, not even that a background process changes a terminal's settings (SIGTTOU).
        sigfillset(&action.sa_mask)
        sigaction(signal, &action, nil)
    }

    private static func restore(_ signal: Int32) {
        if let previous = previousActions?.advanced(by: Int(signal)) {
            sigaction(signal, previous, nil)
        }
    }

    private static func ignores(_ action: sigaction) -> Bool {
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #elseif canImport(Musl)
            let handler = action.__sa_handler.sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == 1  // SIG_IGN
    }
}

private struct Farewell {
    let terminal: Int32
    var settings: termios
    var text: UnsafeMutablePointer<UInt8>?
    var count = 0
}

// Set before there is a handler that could read them. A handler sees the old pointer or the new one.
nonisolated(unsafe) private var farewell: UnsafeMutablePointer<Farewell>?
nonisolated(unsafe) private var previousActions: UnsafeMutablePointer<sigaction>?
nonisolated(unsafe) private var signalPipe: Int32 = -1
nonisolated(unsafe) private var endingCount: Int32 = 0
nonisolated(unsafe) private var hasRestored = false
nonisolated(unsafe) private var ownNumber: pid_t = 0

// MARK: - In handlers: only what signal-safety(7) allows

private func restoreTerminal() {
    guard let last = farewell else { return }
    farewell = nil
    hasRestored = true
    // First, as it waits for nothing. Of the rest, what the terminal takes: nobody may read it any more.
    tcsetattr(last.pointee.terminal, TCSANOW, &last.pointee.settings)
    var written = 0
    while written < last.pointee.count, let text = last.pointee.text {
        var waiting = pollfd(fd: last.pointee.terminal, events: Int16(POLLOUT), revents: 0)
        if poll(&waiting, 1, 500) <= 0 { break }
        let count = write(last.pointee.terminal, text + written, last.pointee.count - written)
        if count <= 0 { break }
        written += count
    }
}

private typealias Handler =
    @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void

private let crash: Handler = { signal, info, _ in
    restoreTerminal()
    if let previousActions { sigaction(signal, previousActions + Int(signal), nil) }
    // What went wrong does so again when the handler returns, in front of whoever was there before us, such as Swift's
    // backtraces. Unless it was sent, or goes on after it.
    if signal == SIGTRAP || (info?.pointee.si_code ?? 0) <= 0 { raise(signal) }
}

private let tell: Handler = { signal, _, _ in
    let error = errno
    if signal == SIGINT || signal == SIGTERM || signal == SIGQUIT {
        endingCount += 1
        if endingCount > 1 {
            // The program does not end as it was asked to.
            restoreTerminal()
            var action = sigaction()
            sigaction(signal, &action, nil)
            raise(signal)
        }
    }
    var byte = UInt8(truncatingIfNeeded: signal)
    _ = write(signalPipe, &byte, 1)
    errno = error
}
