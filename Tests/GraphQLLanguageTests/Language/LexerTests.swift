import Testing

@testable import GraphQLLanguage

/// The value of the only argument in `{ f(a: …) }`.
private func value(_ literal: String) throws(DocumentError) -> Value.Kind {
    try Value(parsing: literal).kind
}

private func string(_ literal: String) throws -> String? {
    guard case .string(let text, _) = try value(literal) else { return nil }
    return text
}

private func error(_ text: String) -> DocumentError? {
    do {
        _ = try Document(parsing: text)
        return nil
    } catch {
        return error
    }
}

private func errorOfValue(_ text: String) -> String? {
    do {
        _ = try Value(parsing: text)
        return nil
    } catch {
        return "\(error)"
    }
}

@Suite struct LexerTests {
    @Test func ignoredTokensMayStandAnywhere() throws {
        let document = try Document(
            parsing: "\u{FEFF}# comment \u{1F600}\r\n,,{\t,a\u{FEFF}b#end\rc},")
        #expect(document.operations[0].selectionSet.selections.count == 3)
    }

    @Test func commentMayEndTheDocument() throws {
        #expect(try Document(parsing: "{a}#").operations.count == 1)
        #expect(error("#")?.description == "Syntax Error: Unexpected <EOF>. (1:2)")
    }

    @Test func numbersKeepTheirText() throws {
        for text in ["0", "-0", "12", "-7", "123456789012345678901234567890"] {
            guard case .int(text) = try value(text) else {
                Issue.record("\(text) is not an Int")
                continue
            }
        }
        for text in ["0.5", "-1.25", "1e3", "1E-3", "-0.0e+00", "1.5e10"] {
            guard case .float(text) = try value(text) else {
                Issue.record("\(text) is not a Float")
                continue
            }
        }
    }

    @Test(arguments: [
        ("00", "Invalid number, unexpected digit after 0: \"0\". (1:2)"),
        ("01", "Invalid number, unexpected digit after 0: \"1\". (1:2)"),
        ("-", "Invalid number, expected digit but got: <EOF>. (1:2)"),
        ("1.", "Invalid number, expected digit but got: <EOF>. (1:3)"),
        ("1.e1", "Invalid number, expected digit but got: \"e\". (1:3)"),
        ("1e", "Invalid number, expected digit but got: <EOF>. (1:3)"),
        ("1.2.3", "Invalid number, expected digit but got: \".\". (1:4)"),
        ("1.2e3.4", "Invalid number, expected digit but got: \".\". (1:6)"),
        ("0xF1", "Invalid number, expected digit but got: \"x\". (1:2)"),
        ("1_000", "Invalid number, expected digit but got: \"_\". (1:2)"),
        ("-A", "Invalid number, expected digit but got: \"A\". (1:2)"),
        ("1ef", "Invalid number, expected digit but got: \"f\". (1:3)"),
        ("+1", "Unexpected character: \"+\". (1:1)"),
        (".123", "Unexpected character: \".\". (1:1)"),
        ("..", "Unexpected character: \".\". (1:1)"),
        ("?", "Unexpected character: \"?\". (1:1)"),
        ("\u{7}", "Unexpected character: U+0007. (1:1)"),
        ("\u{200B}", "Unexpected character: U+200B. (1:1)"),
        ("\u{1F600}", "Unexpected character: U+1F600. (1:1)"),
        (
            "'single'",
            "Unexpected single quote character ('), did you mean to use a double quote (\")? (1:1)"
        ),
    ]) func wrongCharactersAreNamed(_ text: String, _ message: String) {
        #expect(errorOfValue(text) == "Syntax Error: " + message)
    }

    @Test func aNulByteIsNotTheEnd() {
        #expect(errorOfValue("\0") == "Syntax Error: Unexpected character: U+0000. (1:1)")
    }

    @Test func malformedUTF8IsReplaced() throws {
        let source = Source(utf8: Array("{a(b:\"".utf8) + [0xFF] + Array("\")}".utf8))
        let document = try Document(parsing: source)
        guard case .field(let field) = document.operations[0].selectionSet.selections[0],
            case .string("\u{FFFD}", isBlock: false) = field.arguments[0].value.kind
        else {
            Issue.record("no replacement")
            return
        }
    }

    // MARK: Strings

    @Test func stringsMeanWhatTheirEscapesSay() throws {
        #expect(try string(#""""#) == "")
        #expect(try string(#"" plain é 😀 ""#) == " plain é 😀 ")
        #expect(try string(#""\"\\\/\b\f\n\r\t""#) == "\"\\/\u{8}\u{C}\n\r\t")
        #expect(try string(#""a\u0062c \u00e9 \u2603""#) == "abc é ☃")
        #expect(try string(#""\u{1F600} \u{0} \u{0010FFFF}""#) == "😀 \0 \u{10FFFF}")
        #expect(try string(#""\uD83D\uDE00""#) == "😀")
        #expect(try string("\"\u{0} raw \u{7}\"") == "\u{0} raw \u{7}")
    }

    @Test(arguments: [
        (#"""#, "Unterminated string. (1:2)"),
        (#""abc"#, "Unterminated string. (1:5)"),
        ("\"multi\nline\"", "Unterminated string. (1:7)"),
        ("\"multi\rline\"", "Unterminated string. (1:7)"),
        (#""\"#, "Invalid character escape sequence: \"\\\". (1:2)"),
        (#""bad \z esc""#, "Invalid character escape sequence: \"\\z\". (1:6)"),
        (#""bad \x esc""#, "Invalid character escape sequence: \"\\x\". (1:6)"),
        (#""bad \u1 esc""#, "Invalid Unicode escape sequence: \"\\u1 es\". (1:6)"),
        (#""bad \u0XX1 esc""#, "Invalid Unicode escape sequence: \"\\u0XX1\". (1:6)"),
        (#""bad \u{} esc""#, "Invalid Unicode escape sequence: \"\\u{}\". (1:6)"),
        (#""bad \u{110000} esc""#, "Invalid Unicode escape sequence: \"\\u{110000}\". (1:6)"),
        (#""bad \u{D800} esc""#, "Invalid Unicode escape sequence: \"\\u{D800}\". (1:6)"),
        (#""bad \u{FXXX} esc""#, "Invalid Unicode escape sequence: \"\\u{FX\". (1:6)"),
        (#""bad \u{FFFF esc""#, "Invalid Unicode escape sequence: \"\\u{FFFF \". (1:6)"),
        (
            #""bad \u{000000001} esc""#,
            "Invalid Unicode escape sequence: \"\\u{000000001\". (1:6)"
        ),
        (#""bad \uD83D esc""#, "Invalid Unicode escape sequence: \"\\uD83D\". (1:6)"),
        (#""bad \uDE00\uD83D""#, "Invalid Unicode escape sequence: \"\\uDE00\". (1:6)"),
        (#""\uD83D\u0041""#, "Invalid Unicode escape sequence: \"\\uD83D\". (1:2)"),
        (#""\u{"#, "Invalid Unicode escape sequence: \"\\u{\". (1:2)"),
        (#""\u00"#, "Invalid Unicode escape sequence: \"\\u00\". (1:2)"),
    ]) func wrongStringsAreNamed(_ text: String, _ message: String) {
        #expect(errorOfValue(text) == "Syntax Error: " + message)
    }

    // MARK: Block strings

    @Test func blockStringsLoseCommonIndentationAndBlankEdges() throws {
        #expect(try string(#""""""""#) == "")
        #expect(try string(#"""" "simple" """"#) == " \"simple\" ")
        #expect(
            try string("\"\"\"\n\n  spans\n    multiple\n  lines\n\n  \"\"\"")
                == "spans\n  multiple\nlines")
        #expect(try string("\"\"\" first\n   a\n  b\"\"\"") == " first\n a\nb")
        #expect(try string("\"\"\"a\r\n b\r c\n d\"\"\"") == "a\nb\nc\nd")
        #expect(try string("\"\"\"\n\ta\n\t\n\tb \"\"\"") == "a\n\nb ")
        #expect(try string("\"\"\"   \n  \t\n\"\"\"") == "")
    }

    @Test func blockStringsKnowOneEscape() throws {
        #expect(try string(#""""contains \""" triple quote""""#) == #"contains """ triple quote"#)
        #expect(try string(#""""raw \n \u00e9 \\ ""ok """"#) == #"raw \n \u00e9 \\ ""ok "#)
    }

    @Test func unterminatedBlockStringIsNamedAtTheEnd() {
        #expect(errorOfValue("\"\"\"a\n\"") == "Syntax Error: Unterminated string. (2:2)")
        #expect(errorOfValue("\"\"\"") == "Syntax Error: Unterminated string. (1:4)")
    }
}
