import Testing

@testable import TerminalUI

@Suite struct CharacterWidthTests {
    @Test(arguments: [
        ("a", 1), ("~", 1), (" ", 1), ("\u{0}", 0), ("\n", 0), ("\r\n", 0), ("\u{1B}", 0),
        ("\u{7F}", 0),
        ("\u{9B}", 0), ("é", 1), ("e\u{301}", 1), ("\u{301}", 0), ("\u{AD}", 0), ("ñ", 1),
        ("日", 2), ("Ａ", 2), ("ｱ", 1), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("§", 1), ("☃", 1),
        ("😀", 2), ("❤", 1), ("❤\u{FE0F}", 2), ("1\u{FE0F}\u{20E3}", 2), ("a\u{FE0F}", 1), ("👍🏽", 2),
        ("👨‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("🇩", 1), ("🫩", 2), ("\u{200B}", 0), ("\u{200D}", 0),
        ("\u{202E}", 0), ("\u{2028}", 0), ("\u{E000}", 1), ("कि", 1), ("\u{20000}", 2),
        ("\u{10FFFF}", 1),
    ])
    func columns(of character: Character, are count: Int) {
        #expect(character.columnCount == count)
    }

    @Test(arguments: ["❤\u{FE0F}", "⌚\u{FE0E}", "👨‍👩‍👧‍👦", "👍🏽", "🇩🇪", "🇩", "1\u{FE0F}\u{20E3}", "कि"])
    func disputed(_ character: Character) { #expect(character.isDisputed) }

    @Test(arguments: ["a", "é", "e\u{301}", "日", "😀", "\u{D55C}\u{301}"])
    func undisputed(_ character: Character) { #expect(!character.isDisputed) }

    @Test func tablesAreInOrder() {
        for table in [WidthTable.zero, WidthTable.wide] {
            #expect(table.count.isMultiple(of: 2) && table == table.sorted())
        }
    }

    /// All that Unicode calls an emoji by default is a wide character: the table needs no other source.
    @Test func picturesAreWide() {
        for value in UInt32(0x80)...0x1FFFF {
            guard let scalar = Unicode.Scalar(value), !scalar.joinsNext else { continue }
            if scalar.properties.isEmojiPresentation { #expect(scalar.columnCount == 2) }
        }
    }

    @Test func aGraphemeWithoutEndIsNotKept() {
        let table = GraphemeTable()
        var buffer = CellBuffer(Size(width: 4, height: 1), table)
        let long = "日" + String(repeating: "\u{301}", count: 10_000) + "x"
        let count = buffer.write(long, at: .zero, style: .plain, clip: buffer.bounds)
        #expect(count == 2 && buffer.text == "\u{FFFD}x")
    }

    @Test func aClearedTableKnowsNoOldGlyph() {
        let table = GraphemeTable()
        let flag = table.glyph("🇩🇪")
        #expect(table.character(flag) == "🇩🇪" && table.isDisputed(flag))
        table.clear()
        #expect(table.character(flag) == "\u{FFFD}" && !table.isDisputed(flag))
    }
}
