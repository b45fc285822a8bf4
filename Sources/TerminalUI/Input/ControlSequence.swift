/// A whole control sequence (ECMA-48 §5.4) from a terminal: `CSI 1 ; 5 A`.
struct ControlSequence {
    /// `<`, `=`, `>` or `?`.
    private let prefix: UInt8?
    /// Each with its parts after colons; nil for nothing.
    private let parameters: [[Int?]]
    private let intermediates: [UInt8]
    private let final: UInt8

    /// - Returns: nil if it is not one.
    init?(_ bytes: [UInt8], final: UInt8) {
        var rest = bytes[...]
        let first = rest.first ?? 0
        prefix = 0x3C...0x3F ~= first ? rest.popFirst() : nil
        let digits = rest.prefix { 0x30...0x3B ~= $0 }
        intermediates = Array(rest[digits.endIndex...])
        self.final = final
        guard intermediates.allSatisfy({ 0x20...0x2F ~= $0 }) else { return nil }
        parameters = digits.split(separator: 0x3B, omittingEmptySubsequences: false).map {
            $0.split(separator: 0x3A, omittingEmptySubsequences: false).map(Self.number)
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        if digits.isEmpty { return nil }
        return digits.reduce(0) { min($0 * 10 + Int($1) - 0x30, 99_999_999) }
    }

    private func number(_ index: Int, _ part: Int = 0) -> Int? {
        index < parameters.count && part < parameters[index].count
            ? parameters[index][part] : nil
    }

    private var isPlain: Bool { prefix == nil && intermediates.isEmpty }

    var beginsPaste: Bool { isPlain && final == UInt8(ascii: "~") && number(0) == 200 }

    /// What it means; nil for nothing that we know.
    var event: InputEvent? {
        switch prefix {
        case nil where isPlain: plainEvent
        case UInt8(ascii: "?"): reply.map(InputEvent.reply)
        case UInt8(ascii: "<") where intermediates.isEmpty: mouse.map(InputEvent.mouse)
        default: nil
        }
    }

    private var plainEvent: InputEvent? {
        switch final {
        case UInt8(ascii: "I"): return .focus(true)
        case UInt8(ascii: "O"): return .focus(false)
        case UInt8(ascii: "Z"):
            return modifiers(1).map { .key(KeyPress(.tab, $0.union(.shift))) }
        case UInt8(ascii: "~"):
            // xterm's modifyOtherKeys: CSI 27 ; modifiers ; character ~
            if number(0) == 27, let code = number(2) { return typed(code) }
            return key(Self.numbered(number(0) ?? 0))
        case UInt8(ascii: "u"): return number(0).flatMap(typed)
        // CSI row ; column R is where the cursor is, which we do not ask for.
        case UInt8(ascii: "R") where number(0) ?? 1 != 1: return nil
        default: return key(Self.named(final))
        }
    }

    // MARK: - Keys

    private func key(_ key: KeyPress.Key?) -> InputEvent? {
        guard let key, let modifiers = modifiers(1) else { return nil }
        return .key(KeyPress(key, modifiers))
    }

    /// nil for a key that was released, or is held with one that types nothing here, such as Super.
    private func modifiers(_ index: Int) -> KeyPress.Modifiers? {
        if number(index, 1) == 3 { return nil }
        return Self.modifiers(number(index) ?? 1)
    }

    /// xterm's number, which kitty has extended: 1, and 1 for Shift, 2 Alt, 4 Control, 8 Super, 16 Hyper, 32 Meta;
    /// 64 and 128 are locks.
    private static func modifiers(_ number: Int) -> KeyPress.Modifiers? {
        let bits = max(number - 1, 0)
        if bits & (8 | 16) != 0 { return nil }
        var modifiers: KeyPress.Modifiers = []
        if bits & 1 != 0 { modifiers.insert(.shift) }
        if bits & (2 | 32) != 0 { modifiers.insert(.alt) }
        if bits & 4 != 0 { modifiers.insert(.control) }
        return modifiers
    }

    private static func named(_ final: UInt8) -> KeyPress.Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case 0x50...0x53: .function(Int(final) - 0x50 + 1)
        default: nil
        }
    }

    private static func numbered(_ number: Int) -> KeyPress.Key? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        // DEC's keyboard had gaps between groups of keys.
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23...26: .function(number - 12)
        case 28, 29: .function(number - 13)
        case 31...34: .function(number - 14)
        default: nil
        }
    }

    /// What SS3 introduces: arrows and F1 to F4, and a keypad's keys.
    static func keypad(_ digits: [UInt8], final: UInt8) -> KeyPress? {
        guard let sequence = ControlSequence(digits, final: final),
            let modifiers = modifiers(sequence.parameters.last?.first.flatMap(\.self) ?? 1)
        else { return nil }
        if let key = named(final) { return KeyPress(key, modifiers) }
        switch final {
        case UInt8(ascii: "M"): return KeyPress(.enter, modifiers)
        case UInt8(ascii: "I"): return KeyPress(.tab, modifiers)
        case UInt8(ascii: "X"): return KeyPress(.character("="), modifiers)
        // * + , - . / 0 to 9
        case UInt8(ascii: "j")...UInt8(ascii: "y"):
            return KeyPress(.character(Character(Unicode.Scalar(final - 0x40))), modifiers)
        default: return nil
        }
    }

    /// The kitty keyboard protocol: CSI code : shifted ; modifiers : event ; text u.
    private func typed(_ code: Int) -> InputEvent? {
        guard var modifiers = modifiers(1) else { return nil }
        if let key = Self.coded(code) { return .key(KeyPress(key, modifiers)) }
        guard var scalar = Self.typeable(code) else { return nil }
        // Control is held with Latin letters: other alphabets have them in the same places.
        if !scalar.isASCII, !modifiers.isDisjoint(with: [.control, .alt]),
            let latin = number(0, 2).flatMap(Self.typeable)
        {
            scalar = latin
        }
        if modifiers.contains(.shift) {
            // It is part of what is typed.
            if let shifted = number(0, 1).flatMap(Self.typeable) {
                scalar = shifted
            } else {
                let upper = scalar.properties.uppercaseMapping.unicodeScalars
                if upper.count == 1, let first = upper.first { scalar = first }
            }
            modifiers.remove(.shift)
        }
        return .key(KeyPress(.character(Character(scalar)), modifiers))
    }

    private static func typeable(_ code: Int) -> Unicode.Scalar? {
        // Neither controls nor the private use area, where keys that type nothing have their numbers.
        guard code >= 0x20, !(0x7F..<0xA0 ~= code), !(0xE000..<0xF900 ~= code),
            let value = UInt32(exactly: code)
        else { return nil }
        return Unicode.Scalar(value)
    }

    private static func coded(_ code: Int) -> KeyPress.Key? {
        switch code {
        case 9: .tab
        case 13, 57414: .enter
        case 27: .escape
        case 8, 127: .backspace
        case 57376...57398: .function(code - 57376 + 13)
        case 57399...57408: .character(Character("\(code - 57399)"))
        case 57409...57413, 57415, 57416:
            .character([".", "/", "*", "-", "+", " ", "=", ","][code - 57409])
        case 57417...57426:
            [.left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete][
                code - 57417]
        default: nil
        }
    }

    // MARK: - Everything else

    private var reply: TerminalReply? {
        switch (intermediates, final) {
        case ([UInt8(ascii: "$")], UInt8(ascii: "y")):
            guard let mode = number(0), let state = number(1) else { return nil }
            return .mode(mode, state: state)
        case ([], UInt8(ascii: "u")): return .keyboard(flags: number(0) ?? 0)
        case ([], UInt8(ascii: "c")): return .attributes(parameters.compactMap { $0[0] })
        default: return nil
        }
    }

    /// SGR, mode 1006: CSI < button ; column ; row M, with m for a release.
    private var mouse: MouseEvent? {
        let isRelease = final == UInt8(ascii: "m")
        guard isRelease || final == UInt8(ascii: "M"), let code = number(0),
            let column = number(1), let row = number(2), column > 0, row > 0
        else { return nil }
        var modifiers: KeyPress.Modifiers = []
        if code & 4 != 0 { modifiers.insert(.shift) }
        if code & 8 != 0 { modifiers.insert(.alt) }
        if code & 16 != 0 { modifiers.insert(.control) }
        let position = Position(column: column - 1, row: row - 1)
        return mouseKind(code, isRelease).map { MouseEvent($0, at: position, modifiers) }
    }

    private func mouseKind(_ code: Int, _ isRelease: Bool) -> MouseEvent.Kind? {
        // Buttons: 0 left, 1 middle, 2 right, 8 and more on its side.
        let button = (code & 3) + (code & 128 != 0 ? 8 : 0)
        if code & 64 != 0 {
            // 2 and 3 are sideways.
            return button < 2 && !isRelease ? .scroll(button == 0 ? -1 : 1) : nil
        }
        if code & 32 != 0 { return button == 3 ? .move : .drag(button: button) }
        if button == 3 { return nil }
        return isRelease ? .release(button: button) : .press(button: button)
    }
}
