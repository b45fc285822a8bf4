#if os(Linux)
    import BoundedTesting
    import Foundation
    import Testing

    @testable import TerminalUI

    /// In a real terminal's place: a pseudo-terminal, with a shell in it that starts a program.
    @Suite(.bounded, .serialized) struct SystemTerminalTests {
        private func begin() throws -> (PseudoTerminal, settings: String) {
            var fake = FakeTerminal(Size(width: 60, height: 6))
            fake.offeredModes = [2026, 2027]
            fake.knowsKeyboardProtocol = true
            let terminal = try PseudoTerminal(fake)
            let settings = terminal.settings
            terminal.type("go\n")
            let screen = try terminal.await("size=60x6")
            #expect(screen.isAlternate && screen.cells[0].style.attributes == .bold)
            #expect(terminal.settings != settings)
            return (terminal, settings)
        }

        private func expectAsFound(
            _ terminal: PseudoTerminal, _ settings: String,
            location: SourceLocation = #_sourceLocation
        ) {
            let screen = terminal.terminal
            let isOff = screen.modes.allSatisfy { [7, 25].contains($0.key) == $0.value }
            #expect(isOff, sourceLocation: location)
            #expect(!screen.isAlternate && screen.isCursorShown, sourceLocation: location)
            #expect(screen.keyboardFlags.isEmpty, sourceLocation: location)
            #expect(screen.pen == .plain, sourceLocation: location)
            #expect(terminal.settings == settings, sourceLocation: location)
            let mistakes = screen.mistakes.filter { !$0.hasPrefix("LF") }
            #expect(mistakes.isEmpty, sourceLocation: location)
        }

        /// What is typed, and the status that the shell sees: 128 and more for a signal.
        @Test(
            arguments: [
                ("q", 5), ("x", 6), ("a", 128 + SIGABRT), ("s", 128 + SIGSEGV), ("t", nil),
                ("o", 128 + SIGSEGV),
            ] as [(String, Int32?)])
        func endsByItself(_ key: String, _ status: Int32?) throws {
            let (terminal, settings) = try begin()
            defer { terminal.end() }
            terminal.type("b")
            try terminal.await(" b.")
            terminal.type(key)
            try terminal.await("status=\(status.map(String.init) ?? "1")")
            expectAsFound(terminal, settings)
        }

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        func endsByASignal(_ signal: Int32) throws {
            let (terminal, settings) = try begin()
            defer { terminal.end() }
            kill(try terminal.programNumber(), signal)
            try terminal.await("status=\(100 + signal)")
            expectAsFound(terminal, settings)
        }

        @Test func endsAtTheSecondSignalIfItHangs() throws {
            let (terminal, settings) = try begin()
            defer { terminal.end() }
            terminal.type("h")
            try terminal.await(" h.")
            let program = try terminal.programNumber()
            // Both must be handled, not become one.
            let deadline = ContinuousClock.now + .testDeadline
            while !terminal.terminal.text.contains("status="), ContinuousClock.now < deadline {
                kill(program, SIGTERM)
                usleep(10_000)
            }
            try terminal.await("status=\(128 + SIGTERM)")
            expectAsFound(terminal, settings)
        }

        /// Nobody reads what it writes: it ends all the same, and what can be restored is.
        @Test func endsByASignalAlsoWhenTheTerminalTakesNothing() throws {
            let (terminal, settings) = try begin()
            defer { terminal.end() }
            let program = try terminal.programNumber()
            terminal.type("f")
            try terminal.await(" f")
            terminal.stopReading()
            // Until it waits for somebody to read.
            let deadline = ContinuousClock.now + .testDeadline
            while !isWaiting(program), ContinuousClock.now < deadline { usleep(10_000) }
            kill(program, SIGTERM)
            while isRunning(program), ContinuousClock.now < deadline { usleep(10_000) }
            #expect(!isRunning(program))
            #expect(terminal.settings == settings)
            terminal.goOnReading()
            try terminal.await("status=\(100 + SIGTERM)")
        }

        /// What is written has filled all buffers: none of its threads runs.
        private func isWaiting(_ program: pid_t) -> Bool {
            let before = cpuTime(program)
            usleep(100_000)
            return cpuTime(program) == before
        }

        private func cpuTime(_ program: pid_t) -> [Substring] {
            let status = try? String(contentsOfFile: "/proc/\(program)/stat", encoding: .utf8)
            return status.map { Array($0.split(separator: " ").dropFirst(13).prefix(2)) } ?? []
        }

        @Test(arguments: ["z", "signal", "stop"]) func isStoppedAndContinued(_ how: String) throws {
            let (terminal, settings) = try begin()
            defer { terminal.end() }
            terminal.type("b")
            try terminal.await(" b.")
            let program = try terminal.programNumber()
            switch how {
            case "z": terminal.type("z")
            case "signal": kill(program, SIGTSTP)
            default: kill(program, SIGSTOP)
            }
            try terminal.await("status=\(128 + (how == "stop" ? SIGSTOP : SIGTSTP))")
            if how != "stop" { expectAsFound(terminal, settings) }
            terminal.type("\n")
            let screen = try terminal.await(" b.")
            #expect(
                screen.isAlternate && screen.keyboardFlags == [5] && terminal.settings != settings)
            terminal.type("c")
            try terminal.await(" bc.")
            terminal.type("q")
            try terminal.await("status=5")
            if how != "stop" { expectAsFound(terminal, settings) }
        }

        @Test func endsWhenNobodyIsThere() throws {
            let (terminal, _) = try begin()
            let program = try terminal.programNumber()
            terminal.end()
            let deadline = ContinuousClock.now + .testDeadline
            while isRunning(program), ContinuousClock.now < deadline { usleep(10_000) }
            #expect(!isRunning(program))
        }

        private func isRunning(_ program: pid_t) -> Bool {
            let status = try? String(contentsOfFile: "/proc/\(program)/stat", encoding: .utf8)
            // Without anybody to look after it, it stays as a zombie.
            return status.map { !$0.contains(") Z ") } ?? false
        }

        @Test func followsTheWindow() throws {
            let (terminal, settings) = try begin()
            defer { terminal.end() }
            terminal.resize(Size(width: 50, height: 3))
            try terminal.await("size=50x3")
            terminal.type("q")
            try terminal.await("status=5")
            expectAsFound(terminal, settings)
        }
    }
#endif
