/// What is switched on in a terminal for a screen, and what has to be switched off again.
///
/// A value: the terminal's answers in, bytes to write out.
struct ScreenModes: Sendable {
    /// Whether clicks and the wheel are wanted. Then the terminal's own selection of text needs Shift.
    let wantsMouse: Bool
    /// Mode 2026: frames are shown at once.
    private(set) var isSynchronized = false
    /// Mode 2027: it takes graphemes for what they are.
    private(set) var knowsGraphemes = false
    /// The kitty keyboard protocol.
    private(set) var knowsKeyboard = false
    private(set) var hasAsked = false
    /// Whether all answers have come.
    private(set) var isAnswered = false

    init(wantsMouse: Bool) { self.wantsMouse = wantsMouse }

    /// What to write to have a screen; the first time, it asks as well.
    mutating func enter() -> [UInt8] {
        // The alternate screen first, because the keyboard's flags belong to one. No wrapping: whatever terminals think
        // of a grapheme's width, rows stay rows.
        var text = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?1004h"
        if wantsMouse { text += "\u{1B}[?1002h\u{1B}[?1006h" }
        if knowsGraphemes { text += Self.graphemes }
        if knowsKeyboard { text += Self.keyboard }
        // What a terminal that does not know these questions prints of them is erased with the first frame. All
        // terminals answer the last one, so all answers come before its.
        if !hasAsked { text += "\u{1B}[?2026$p\u{1B}[?2027$p\u{1B}[?u\u{1B}[c" }
        hasAsked = true
        return Array(text.utf8)
    }

    private static let graphemes = "\u{1B}[?2027h"
    /// Flag 1: keys that are ambiguous otherwise, such as Escape and Ctrl-I, are not. Flag 4: which Latin letter is in a
    /// key's place.
    private static let keyboard = "\u{1B}[>5u"

    /// - Returns: what to write, after the farewell has been set anew.
    mutating func receive(_ reply: TerminalReply) -> [UInt8] {
        switch reply {
        case .mode(2026, let state): isSynchronized = 1...3 ~= state
        // 1 and 3: it is on already, and stays so.
        case .mode(2027, state: 2) where !knowsGraphemes:
            knowsGraphemes = true
            return Array(Self.graphemes.utf8)
        case .keyboard where !knowsKeyboard && !isAnswered:
            knowsKeyboard = true
            return Array(Self.keyboard.utf8)
        case .attributes: isAnswered = true
        case .mode, .keyboard: break
        }
        return []
    }

    /// Takes back everything, whatever of it has been written.
    var farewell: [UInt8] {
        var text = ""
        // A frame may have been broken off.
        if isSynchronized { text += "\u{1B}[?2026l" }
        if knowsKeyboard { text += "\u{1B}[<1u" }
        if knowsGraphemes { text += "\u{1B}[?2027l" }
        if wantsMouse { text += "\u{1B}[?1006l\u{1B}[?1002l" }
        text += "\u{1B}[?1004l\u{1B}[?2004l\u{1B}[?7h\u{1B}[m\u{1B}[?25h\u{1B}[?1049l"
        return Array(text.utf8)
    }
}
