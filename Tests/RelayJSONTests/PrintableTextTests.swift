import RelayJSON
import Testing

struct PrintableTextTests {
    /// Whoever chooses an id does not choose what a terminal does.
    @Test(arguments: [
        ("ann", "ann"),
        ("J\u{fc}rgen \u{1F469}\u{200D}\u{1F680}", "J\u{fc}rgen \u{1F469}\u{200D}\u{1F680}"),
        ("b\n99\tfake", #"b\u000a99\u0009fake"#), ("\u{1b}[2J", #"\u001b[2J"#),
        ("\u{7f}", #"\u007f"#),
        ("\u{85}\u{2028}\u{2029}", #"\u0085\u2028\u2029"#), ("\u{202e}txt", #"\u202etxt"#),
        ("\u{e0001}", #"\udb40\udc01"#), ("e\u{301}\r\n", "e\u{301}" + #"\u000d\u000a"#),
    ])
    func linesAreLines(text: String, shown: String) { #expect(text.printable == shown) }
}
