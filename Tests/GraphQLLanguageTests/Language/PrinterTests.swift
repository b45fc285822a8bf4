import Testing

@testable import GraphQLLanguage

@Suite struct PrinterTests {
    @Test func executableDocumentsRoundTrip() throws {
        #expect(try Document(parsing: executableKitchenSink).printed() == executableKitchenSink)
    }

    @Test func typeSystemDocumentsRoundTrip() throws {
        #expect(try Document(parsing: typeSystemKitchenSink).printed() == typeSystemKitchenSink)
    }

    @Test func stringsRoundTripWhateverTheyHold() throws {
        for text in ["", "\"", "\\", "\u{0}\u{8}\t\n\u{C}\r\u{1F}\u{7F}\u{9F}", "é😀\u{2028}"] {
            guard case .string(text, _) = try Value(parsing: printString(text)).kind else {
                Issue.record("\(printString(text)) is not \(text)")
                continue
            }
        }
        #expect(printString("\u{7F}") == #""\u007F""#)
    }

    @Test func blockStringsRoundTripWhereTheyCan() throws {
        let texts = [
            "", "a", " a", "a\n b", "a\n\nb", "a\"", "a\\", "\"\"\"", "a \"\"\" b", "a\"\"\"\"",
            " a\nb", String(repeating: "long ", count: 20) + ".",
        ]
        for text in texts {
            #expect(isPrintableAsBlockString(text))
            guard case .string(text, _) = try Value(parsing: printBlockString(text)).kind else {
                Issue.record("\(printBlockString(text)) is not \(text)")
                continue
            }
        }
        for text in ["\na", "a\n", " a\n b", "\t", "a\rb", "\u{0}"] {
            #expect(!isPrintableAsBlockString(text), "\(text)")
        }
    }

    @Test func anAnonymousQueryKeepsItsKeywordWhenItHasMoreToSay() throws {
        for text in ["query @d {\n  a\n}", "query ($a: Int) {\n  a\n}", "\"d\"\nquery {\n  a\n}"] {
            #expect(try Document(parsing: text).printed() == text)
        }
    }
}
