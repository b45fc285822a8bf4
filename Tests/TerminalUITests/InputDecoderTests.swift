import BoundedTesting
import Foundation
import Testing

@testable import TerminalUI

extension InputEvent {
    fileprivate static func typed(
        _ character: Character, _ modifiers: KeyPress.Modifiers = []
    ) -> InputEvent { .key(KeyPress(.character(character), modifiers)) }

    fileprivate static func pressed(
        _ key: KeyPress.Key, _ modifiers: KeyPress.Modifiers = []
    ) -> InputEvent { .key(KeyPress(key, modifiers)) }
}

@Suite(.bounded) struct InputDecoderTests {
    private func decode(_ text: String, timeout: Bool = false) -> [InputEvent] {
        decode(Array(text.replacingOccurrences(of: "␛", with: "\u{1B}").utf8), timeout: timeout)
    }

    private func decode(_ bytes: [UInt8], timeout: Bool = false) -> [InputEvent] {
        var decoder = InputDecoder()
        let events = decoder.decode(bytes)
        return events + (timeout ? decoder.timeout() : [])
    }

    @Test func textIsTyped() {
        #expect(decode("aß日😀") == [.typed("a"), .typed("ß"), .typed("日"), .typed("😀")])
    }

    @Test func brokenBytesAreReplaced() {
        let unknown = InputEvent.typed("\u{FFFD}")
        #expect(decode([0xFF, 0x61]) == [unknown, .typed("a")])
        #expect(decode([0xE6, 0x97, 0x61]) == [unknown, .typed("a")])
        #expect(decode([0xE6, 0x1B, 0x5B, 0x41]) == [unknown, .pressed(.up)])
        #expect(decode([0xC0, 0x80]) == [unknown, unknown])
        // A surrogate, and what is above U+10FFFF.
        #expect(decode([0xED, 0xA0, 0x80]) == [unknown, unknown, unknown])
        #expect(decode([0xF4, 0x90, 0x80, 0x80]).count == 4)
    }

    @Test func controlKeysHaveNames() {
        #expect(decode("\t\r\n") == [.pressed(.tab), .pressed(.enter), .pressed(.enter)])
        #expect(decode("\u{7F}\u{8}") == [.pressed(.backspace), .pressed(.backspace)])
        #expect(decode("\u{3}\u{1A}") == [.typed("c", .control), .typed("z", .control)])
        #expect(decode("\0\u{1C}\u{1F}").count == 3)
        #expect(decode("\0\u{1C}")[1] == .typed("\\", .control))
    }

    @Test func escapeWaits() {
        var decoder = InputDecoder()
        #expect(decoder.decode([0x1B]).isEmpty && decoder.isWaiting)
        #expect(decoder.timeout() == [.pressed(.escape)] && !decoder.isWaiting)
        #expect(decoder.timeout().isEmpty)
        #expect(decode("␛␛", timeout: true) == [.pressed(.escape), .pressed(.escape)])
        #expect(decode("␛[", timeout: true) == [.typed("[", .alt)])
        #expect(decode("␛O", timeout: true) == [.typed("O", .alt)])
        #expect(decode("␛]", timeout: true) == [.typed("]", .alt)])
        // In the middle of a sequence nothing is decided: it may be a slow line.
        #expect(decode("␛[1;", timeout: true).isEmpty)
    }

    @Test func altKeys() {
        #expect(decode("␛x␛ß") == [.typed("x", .alt), .typed("ß", .alt)])
        #expect(decode("␛\r␛\u{7F}") == [.pressed(.enter, .alt), .pressed(.backspace, .alt)])
        #expect(decode("␛\u{3}") == [.typed("c", [.alt, .control])])
    }

    @Test(
        arguments: [
            ("␛[A", .pressed(.up)), ("␛OA", .pressed(.up)), ("␛[1;5A", .pressed(.up, .control)),
            ("␛[1;2D", .pressed(.left, .shift)),
            ("␛[1;8C", .pressed(.right, [.shift, .alt, .control])),
            ("␛[H", .pressed(.home)), ("␛OF", .pressed(.end)), ("␛[1~", .pressed(.home)),
            ("␛[2~", .pressed(.insert)), ("␛[3;5~", .pressed(.delete, .control)),
            ("␛[5~", .pressed(.pageUp)), ("␛[6~", .pressed(.pageDown)),
            ("␛[Z", .pressed(.tab, .shift)),
            ("␛OP", .pressed(.function(1))), ("␛[1;5R", .pressed(.function(3), .control)),
            ("␛[15~", .pressed(.function(5))), ("␛[17~", .pressed(.function(6))),
            ("␛[24;2~", .pressed(.function(12), .shift)), ("␛[[C", .pressed(.function(3))),
            ("␛O5A", .pressed(.up, .control)), ("␛OM", .pressed(.enter)), ("␛Oq", .typed("1")),
            // kitty
            ("␛[27u", .pressed(.escape)), ("␛[97;5u", .typed("a", .control)),
            ("␛[97;6u", .typed("A", .control)), ("␛[97:65;2u", .typed("A")),
            ("␛[13;2u", .pressed(.enter, .shift)), ("␛[9;5:2u", .pressed(.tab, .control)),
            ("␛[57399u", .typed("0")), ("␛[57417u", .pressed(.left)),
            ("␛[57376u", .pressed(.function(13))), ("␛[1;1:2B", .pressed(.down)),
            ("␛[97;65u", .typed("a")), ("␛[27;5;105~", .typed("i", .control)),
            // others
            ("␛[I", .focus(true)), ("␛[O", .focus(false)),
            ("␛[?2026;2$y", .reply(.mode(2026, state: 2))), ("␛[?1u", .reply(.keyboard(flags: 1))),
            ("␛[?62;22c", .reply(.attributes([62, 22]))),
            (
                "␛[<0;3;4M",
                .mouse(MouseEvent(.press(button: 0), at: Position(column: 2, row: 3)))
            ),
            (
                "␛[<2;3;4m",
                .mouse(MouseEvent(.release(button: 2), at: Position(column: 2, row: 3)))
            ),
            (
                "␛[<48;1;1M",
                .mouse(MouseEvent(.drag(button: 0), at: .zero, .control))
            ),
            ("␛[<35;1;1M", .mouse(MouseEvent(.move, at: .zero))),
            ("␛[<64;1;1M", .mouse(MouseEvent(.scroll(-1), at: .zero))),
            ("␛[<65;1;1M", .mouse(MouseEvent(.scroll(1), at: .zero))),
        ] as [(String, InputEvent)])
    func sequences(_ bytes: String, mean event: InputEvent) {
        #expect(decode(bytes) == [event])
        #expect(decode("x" + bytes + "y") == [.typed("x"), event, .typed("y")])
    }

    /// Unknown ones, keys that were released, those with Super.
    @Test(arguments: [
        "␛[>1;95;0c", "␛[?25;1;2;3h", "␛[99~", "␛[4;5;6z", "␛[1;1:3A", "␛[97;1:3u", "␛[97;9u",
        "␛[57441u", "␛[1114112u", "␛[55296u", "␛[128u", "␛[99999999999999999999u", "␛[?1 u",
        "␛[<0;0;0M", "␛[<0;1M", "␛[<66;1;1M", "␛]11;rgb:ffff/ffff/ffff␛\\", "␛]0;title\u{7}",
        "␛P1$r0m␛\\", "␛_Gi=1;OK␛\\", "␛^private␛\\", "␛Oz", "␛[12;40R", "␛[M ab", "␛[201~",
        "␛[::::;;;:u", "\u{9B}", "␛[<;;M",
        "␛[ A", "␛[1 ;A",
    ])
    func unknownIsSwallowed(_ bytes: String) {
        #expect(decode("x" + bytes + "y", timeout: true) == [.typed("x"), .typed("y")])
    }

    @Test func aSequenceWithoutAnEndInSightIsSwallowed() {
        let bytes = "␛[" + String(repeating: "1;", count: 10_000) + "A"
        #expect(decode("x" + bytes + "y") == [.typed("x"), .typed("y")])
    }

    @Test func aBrokenOffSequenceDoesNotSwallowKeys() {
        #expect(decode("␛[1;\u{3}") == [.typed("c", .control)])
        #expect(decode("␛[1;␛[A") == [.pressed(.up)])
        #expect(decode("␛]0;␛[A") == [.pressed(.up)])
        #expect(decode("␛]0;never", timeout: true).isEmpty)
        var decoder = InputDecoder()
        _ = decoder.decode(Array("\u{1B}]0;never".utf8))
        _ = decoder.timeout()
        #expect(decoder.decode([0x61]) == [.typed("a")])
    }

    @Test func pastedTextIsOneEvent() {
        #expect(
            decode("␛[200~a\r\nb\rc\nd␛[A␛[201~x") == [.paste("a\nb\nc\nd\u{1B}[A"), .typed("x")])
        #expect(decode("␛[200~␛␛[20␛[201~") == [.paste("\u{1B}\u{1B}[20")])
        #expect(decode("␛[200~␛[201~") == [.paste("")])
        #expect(
            decode([0x1B] + Array("[200~".utf8) + [0xFF, 0x1B] + Array("[201~".utf8)) == [
                .paste("\u{FFFD}")
            ])
    }

    @Test func aLongPasteIsCut() {
        let text = String(repeating: "€", count: 400_000)
        let events = decode("␛[200~" + text + "␛[201~x")
        #expect(events.count == 2 && events[1] == .typed("x"))
        guard case .paste(let kept) = events[0] else { return }
        #expect(kept.utf8.count == 1_048_575 && text.hasPrefix(kept))
    }

    // MARK: - Random bytes

    private static let pieces: [String] = [
        "\u{1B}", "[", "O", "]", "P", "\\", "1;5A", "200~", "\u{1B}[200~", "\u{1B}[201~", "97;5u",
        "<0;3;4M",
        "M", "?2026;2$y", "é", "😀", "\u{7}", "\u{3}", ":", ";", "$", "x", "~", "[A", "\r\n",
    ]

    private func randomBytes(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<random.below(60) {
            if random.below(3) == 0 {
                bytes.append(UInt8(random.below(256)))
            } else {
                bytes += Array(random.pick(Self.pieces).utf8)
            }
        }
        return bytes
    }

    /// Whatever the bytes, and however they are split.
    @Test func splittingChangesNothing() {
        let environment = ProcessInfo.processInfo.environment
        let seed =
            environment["RELAY_TERMINAL_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        let rounds = environment["RELAY_TERMINAL_ROUNDS"].flatMap(Int.init) ?? 40
        var random = SeededGenerator(seed: seed)
        for round in 0..<rounds * 100 {
            let bytes = randomBytes(&random)
            let whole = decode(bytes)
            var decoder = InputDecoder()
            var parts: [InputEvent] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = rest.prefix(1 + random.below(4))
                rest = rest.dropFirst(part.count)
                parts += decoder.decode(part)
            }
            guard whole == parts else {
                Issue.record("RELAY_TERMINAL_SEED=\(seed), round \(round): \(bytes)")
                return
            }
            // At any time, a timeout does no harm either, and afterwards nobody is waiting.
            _ = decoder.timeout()
            #expect(!decoder.isWaiting)
        }
    }

    /// With another alphabet, Control is held with the key that is in the place of a Latin one.
    @Test func controlIsHeldWithTheKeyOfTheLatinLayout() {
        #expect(decode("\u{1B}[1089::99;5u") == [.key(KeyPress(.character("c"), .control))])
        #expect(decode("\u{1B}[1103::122;3u") == [.key(KeyPress(.character("z"), .alt))])
        // What is typed is what the layout has.
        #expect(decode("\u{1B}[1089::99;1u") == [.key(KeyPress(.character("с")))])
        // Latin letters are where the layout has them: Dvorak's c.
        #expect(decode("\u{1B}[99::105;5u") == [.key(KeyPress(.character("c"), .control))])
    }
}
