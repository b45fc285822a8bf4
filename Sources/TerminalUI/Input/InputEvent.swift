/// What comes from a terminal.
package enum InputEvent: Hashable, Sendable {
    case key(KeyPress)
    /// Text that was pasted, with whatever is in it.
    case paste(String)
    case mouse(MouseEvent)
    /// The terminal's window has got or lost the focus.
    case focus(Bool)
    /// An answer to a query.
    case reply(TerminalReply)
}

/// A key that was pressed, with the modifiers that the terminal tells.
public struct KeyPress: Hashable, Sendable {
    /// A key.
    public enum Key: Hashable, Sendable {
        /// A key that types something; with Shift it is what is typed then.
        case character(Character)
        /// Also called Return.
        case enter
        /// Shift and Tab is this with ``Modifiers/shift``.
        case tab
        /// Without what may come behind it: a key alone.
        case escape
        /// Takes away what is before the caret.
        case backspace
        /// Takes away what is behind the caret.
        case delete
        /// Switches between inserting and overwriting elsewhere; no view here has a use for it.
        case insert
        /// An arrow.
        case up
        /// An arrow.
        case down
        /// An arrow.
        case left
        /// An arrow.
        case right
        /// To the beginning.
        case home
        /// To the end.
        case end
        /// One screen up.
        case pageUp
        /// One screen down.
        case pageDown
        /// F1 and so on.
        case function(Int)
    }

    /// Keys that are held down meanwhile.
    public struct Modifiers: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Told for keys that type nothing only: otherwise it is part of what is typed.
        public static let shift = Modifiers(rawValue: 1 << 0)
        /// Also called Option or Meta.
        public static let alt = Modifiers(rawValue: 1 << 1)
        /// Ctrl-C is `KeyPress(.character("c"), .control)`.
        public static let control = Modifiers(rawValue: 1 << 2)
    }

    /// Which one.
    public var key: Key
    /// What is held down meanwhile.
    public var modifiers: Modifiers

    /// - Parameters:
    ///   - key: which one.
    ///   - modifiers: what is held down meanwhile.
    public init(_ key: Key, _ modifiers: Modifiers = []) {
        self.key = key
        self.modifiers = modifiers
    }
}

extension KeyPress: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral {
    /// A key that types something, without modifiers.
    public init(extendedGraphemeClusterLiteral character: Character) {
        self.init(.character(character))
    }
}

/// A button of the mouse, or its wheel, at a cell.
package struct MouseEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case press(button: Int)
        case release(button: Int)
        case drag(button: Int)
        case move
        /// Lines: negative is up.
        case scroll(Int)
    }

    package var kind: Kind
    package var position: Position
    package var modifiers: KeyPress.Modifiers

    package init(_ kind: Kind, at position: Position, _ modifiers: KeyPress.Modifiers = []) {
        self.kind = kind
        self.position = position
        self.modifiers = modifiers
    }
}

/// What a terminal answers when it is asked about itself.
package enum TerminalReply: Hashable, Sendable {
    /// DECRQM: whether a private mode is known, and its state: 0 unknown, 1 set, 2 reset, 3 and 4 permanently so.
    case mode(Int, state: Int)
    /// The kitty keyboard protocol's flags; who answers knows the protocol.
    case keyboard(flags: Int)
    /// DA1, what every terminal answers: asked last, so that all other answers have come.
    case attributes([Int])
}
