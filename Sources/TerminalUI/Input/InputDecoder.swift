/// Understands what a terminal sends: keys, pasted text, mouse, focus, answers.
///
/// A value: bytes in, events out. However the bytes are split, the events are the same. Nothing that comes traps or
/// makes it grow:
/// - A control sequence that means nothing to us is swallowed, and so is one longer than 256 bytes. A control
///   character breaks a sequence off, so that Ctrl-C works whatever came before.
/// - A paste keeps its first MiB (1,048,576 bytes); what comes after that, up to its end, is dropped. A paste
///   whose end never comes takes all keys: what is in it must not be taken for typing, and it may be slow.
/// - Broken UTF-8 is U+FFFD, by maximal subparts as everywhere.
///
/// Terminals send the same byte for Escape and at the beginning of everything else, so after a byte that may be one
/// or the other its owner waits (see ``isWaiting``), and if nothing comes, calls ``timeout()``.
package struct InputDecoder: Sendable {
    private enum State {
        case ground
        /// After ESC.
        case escape
        /// After ESC [.
        case control
        /// After ESC O.
        case single
        /// After ESC [ [, as the Linux console sends it: the next byte is F1 to F5.
        case console
        /// After ESC and one of ] P X ^ _: text up to ST, which we never ask for.
        case string(isEmpty: Bool, introducer: UInt8)
        /// After ESC in such a text: probably ST.
        case stringEnd
        /// Mouse events of the old kind have three bytes of any value.
        case oldMouse(remaining: Int)
        case paste
    }

    private var state = State.ground
    private var utf8 = UTF8Assembler()
    /// Whether what is being assembled came after ESC.
    private var isAlt = false
    /// Between a sequence's introducer and its last byte.
    private var parameters: [UInt8] = []
    private var isTooLong = false
    private var paste = PasteAssembler()
    private var events: [InputEvent] = []

    /// So many bytes a sequence may have.
    static let longestSequence = 256

    package init() {}

    /// Whether ``timeout()`` would decide something.
    package var isWaiting: Bool {
        switch state {
        case .escape, .string, .stringEnd: true
        case .control, .single: parameters.isEmpty && !isTooLong
        case .ground, .console, .oldMouse, .paste: false
        }
    }

    /// Takes the next bytes.
    /// - Returns: what they, and those before them, mean.
    package mutating func decode(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
        for byte in bytes { receive(byte) }
        defer { events = [] }
        return events
    }

    /// Nothing has come for a while: what may be the beginning of a sequence was a key.
    package mutating func timeout() -> [InputEvent] {
        guard isWaiting else { return [] }
        switch state {
        case .escape: press(.escape)
        case .control: press(.character("["), .alt)
        case .single: press(.character("O"), .alt)
        // One that has begun is a terminal's that will not end it, or somebody who types fast. Neither shall lock us.
        case .string(let isEmpty, let introducer):
            if isEmpty { press(.character(Character(Unicode.Scalar(introducer))), .alt) }
        case .ground, .stringEnd, .console, .oldMouse, .paste: break
        }
        state = .ground
        defer { events = [] }
        return events
    }

    private mutating func press(_ key: KeyPress.Key, _ modifiers: KeyPress.Modifiers = []) {
        events.append(.key(KeyPress(key, modifiers)))
    }

    private mutating func begin(_ state: State) {
        self.state = state
        parameters.removeAll(keepingCapacity: true)
        isTooLong = false
    }

    private mutating func receive(_ byte: UInt8) {
        switch state {
        case .ground: receiveInGround(byte)
        case .escape: receiveAfterEscape(byte)
        case .control: receiveControl(byte)
        case .single: receiveSingle(byte)
        case .console:
            state = .ground
            if 0x41...0x45 ~= byte { press(.function(Int(byte) - 0x40)) } else { receive(byte) }
        case .string(_, let introducer):
            switch byte {
            // BEL ends it; CAN and SUB cancel it.
            case 0x07, 0x18, 0x1A: state = .ground
            case 0x1B: state = .stringEnd
            default: state = .string(isEmpty: false, introducer: introducer)
            }
        case .stringEnd:
            state = byte == UInt8(ascii: "\\") ? .ground : .escape
            if case .escape = state { receive(byte) }
        case .oldMouse(let remaining):
            state = remaining > 1 ? .oldMouse(remaining: remaining - 1) : .ground
        case .paste:
            if let text = paste.receive(byte) {
                state = .ground
                events.append(.paste(text))
            }
        }
    }

    private mutating func receiveInGround(_ byte: UInt8) {
        if byte < 0x80, !utf8.isPending {
            switch byte {
            case 0x1B: begin(.escape)
            case 0x20..<0x7F: press(.character(Character(Unicode.Scalar(byte))))
            default: pressControl(byte)
            }
            return
        }
        switch utf8.receive(byte) {
        case .pending: break
        case .scalar(let scalar): type(scalar)
        case .broken(let isTaken):
            type("\u{FFFD}")
            if !isTaken { receive(byte) }
        }
    }

    private mutating func type(_ scalar: Unicode.Scalar) {
        let modifiers: KeyPress.Modifiers = isAlt ? .alt : []
        isAlt = false
        // C1, which no key types.
        if 0x80..<0xA0 ~= scalar.value { return }
        press(.character(Character(scalar)), modifiers)
    }

    /// C0 and DEL. Some keys have two names; of Ctrl-I and Tab, Ctrl-M and Enter, Ctrl-H and Backspace it is the second.
    /// So it is for Ctrl-J, which programs that type for people send for Enter.
    private mutating func pressControl(_ byte: UInt8, _ modifiers: KeyPress.Modifiers = []) {
        switch byte {
        case 0x08, 0x7F: press(.backspace, modifiers)
        case 0x09: press(.tab, modifiers)
        case 0x0A, 0x0D: press(.enter, modifiers)
        case 0x00: press(.character(" "), modifiers.union(.control))
        default:
            let lower: UInt8 = byte < 0x1B ? 0x60 : 0x40
            let character = Character(Unicode.Scalar(byte | lower))
            press(.character(character), modifiers.union(.control))
        }
    }

    private mutating func receiveAfterEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "["): begin(.control)
        case UInt8(ascii: "O"): begin(.single)
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"),
            UInt8(ascii: "_"):
            state = .string(isEmpty: true, introducer: byte)
        case 0x1B: press(.escape)
        case 0x80...:
            state = .ground
            isAlt = true
            receive(byte)
        case 0x20..<0x7F:
            state = .ground
            press(.character(Character(Unicode.Scalar(byte))), .alt)
        default:
            state = .ground
            pressControl(byte, .alt)
        }
    }

    private mutating func receiveControl(_ byte: UInt8) {
        switch byte {
        case 0x20...0x3F:
            if parameters.count < Self.longestSequence {
                parameters.append(byte)
            } else {
                isTooLong = true
            }
        case UInt8(ascii: "[") where parameters.isEmpty: state = .console
        case UInt8(ascii: "M") where parameters.isEmpty: state = .oldMouse(remaining: 3)
        case 0x40...0x7E:
            state = .ground
            if isTooLong { return }
            perform(ControlSequence(parameters, final: byte))
        default:
            // No sequence has such a byte: this one was broken off.
            state = .ground
            receive(byte)
        }
    }

    private mutating func perform(_ sequence: ControlSequence?) {
        guard let sequence else { return }
        if sequence.beginsPaste {
            state = .paste
            paste = PasteAssembler()
        } else if let event = sequence.event {
            events.append(event)
        }
    }

    private mutating func receiveSingle(_ byte: UInt8) {
        switch byte {
        // Modifiers, as some terminals have them here.
        case 0x30...0x39, 0x3B:
            if parameters.count < Self.longestSequence { parameters.append(byte) }
        case 0x20...0x7E:
            state = .ground
            if let key = ControlSequence.keypad(parameters, final: byte) {
                events.append(.key(key))
            }
        default:
            state = .ground
            receive(byte)
        }
    }
}
