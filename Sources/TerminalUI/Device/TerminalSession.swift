import Threads

/// A screen on a device: frames out, events in.
///
/// One thread shows frames. Notices come on the device's thread; those are answered at once, and none of them waits
/// for a frame.
package final class TerminalSession: Sendable {
    /// What its owner has to know.
    package enum Notice: Sendable, Equatable {
        case input(InputEvent)
        /// The screen has another size, or nothing is on it any more: a frame is wanted.
        case redraw(Size)
        case ended(TerminalEnd)
    }

    private struct State {
        var modes: ScreenModes
        var writer: FrameWriter
        var decoder = InputDecoder()
        var isOpen = false
        var isGone = false
        /// The device's thread, once it has been heard of.
        var thread: UInt?
    }

    /// What a terminal is given to answer before it is left. Later answers are typed into the shell.
    private static let answerTimeMilliseconds = 250

    private let device: any TerminalDevice
    private let state: Monitor<State>

    package init(_ device: any TerminalDevice, colors: ColorDepth, wantsMouse: Bool = false) {
        self.device = device
        state = Monitor(
            State(modes: ScreenModes(wantsMouse: wantsMouse), writer: FrameWriter(colors: colors)))
    }

    package var size: Size { device.size }

    /// Takes over the terminal.
    /// - Throws: ``TerminalError``.
    package func start(_ receive: @escaping @Sendable (Notice) -> Void) throws {
        try device.open { [self] in self.receive($0, receive) }
        enter()
    }

    /// Writes what differs from what is shown. Waits for the terminal if it is slow.
    package func show(_ buffer: CellBuffer, cursor: Position? = nil) {
        let bytes = state.withLock { state -> [UInt8] in
            guard state.isOpen, !state.isGone else { return [] }
            return state.writer.frame(buffer, cursor: cursor)
        }
        if !bytes.isEmpty { device.write(bytes) }
    }

    /// The next frame draws everything, whatever has happened to the screen.
    package func redraw() { state.withLock { $0.writer.invalidate() } }

    /// See ``TerminalDevice/suspend()``.
    package func suspend() { device.suspend() }

    /// Leaves the terminal as it was found, once it has answered what it was asked. May be called more than once.
    package func stop() {
        let mayWait = state.withLock { $0.thread != currentThread() }
        if mayWait {
            _ = state.wait(milliseconds: Self.answerTimeMilliseconds) { state -> Bool? in
                !state.isOpen || state.isGone || state.modes.isAnswered ? true : nil
            }
        }
        state.withLock { $0.isOpen = false }
        device.close()
    }

    private func enter() {
        // First the farewell, then what makes it necessary. And what is written here erases the screen, so frames that
        // rely on its being empty come after it.
        let bytes = state.withLock { $0.modes.enter() }
        device.setFarewell(state.withLock { $0.modes.farewell })
        device.write(bytes)
        state.withLock { state in
            state.isOpen = true
            state.writer.invalidate()
        }
    }

    private func receive(_ notice: TerminalNotice, _ receive: (Notice) -> Void) {
        state.withLock { $0.thread = currentThread() }
        switch notice {
        case .bytes(let bytes):
            pass(on: state.withLock { $0.decoder.decode(bytes) }, receive)
        case .quiet:
            pass(on: state.withLock { $0.decoder.timeout() }, receive)
        case .resized:
            state.withLock { $0.writer.invalidate() }
            receive(.redraw(device.size))
        case .resumed:
            enter()
            receive(.redraw(device.size))
        case .ended(let end):
            state.update { if end == .gone { $0.isGone = true } }
            receive(.ended(end))
        }
    }

    private func pass(on events: [InputEvent], _ receive: (Notice) -> Void) {
        for event in events {
            guard case .reply(let reply) = event else {
                receive(.input(event))
                continue
            }
            let bytes = state.update { state -> [UInt8] in
                let bytes = state.modes.receive(reply)
                state.writer.isSynchronized = state.modes.isSynchronized
                return bytes
            }
            device.setFarewell(state.withLock { $0.modes.farewell })
            if !bytes.isEmpty { device.write(bytes) }
        }
    }
}
