import BoundedTesting
import RelayJSON
import Testing

@Suite struct JSONReaderTests {
    static let readable: [(String, JSONValue)] = [
        ("null", nil), ("true", true), (" false ", false), ("0", 0), ("-0.5", -0.5),
        ("-9223372036854775808", .int(.min)), ("9223372036854775807", .int(.max)),
        ("9223372036854775808", .double(9223372036854775808)), ("1.0", 1.0), ("1e3", 1000.0),
        ("\"\"", ""), ("\"a\\u00e9\\n\\\"\\/\"", "aé\n\"/"), ("\"\\ud83d\\ude00\"", "😀"),
        ("\"\\ud83d x\"", "\u{FFFD} x"), ("[]", []), ("[1, [2], {}]", [1, [2], [:]]),
        ("{\"a\": {\"b\": [null]}, \"c\": 1}", ["a": ["b": [nil]], "c": 1]),
        ("\"12345678\\\"12345678é12345678\"", "12345678\"12345678é12345678"),
    ]

    @Test(arguments: readable)
    func readsEveryKindOfValue(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test func wholeNumbersAndFractionsStayApart() throws {
        #expect(try JSONValue(parsing: "1") != JSONValue(parsing: "1.0"))
        #expect(try JSONValue(parsing: "-0") == .double(-0.0))
    }

    @Test func aNameGivenTwiceKeepsItsLastValue() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#).text == #"{"a":3,"b":2}"#)
    }

    /// Unicode's canonical equivalence is Swift's equality, and not JSON's.
    @Test func textsAreEqualWhenTheirBytesAre() throws {
        let (one, two) = ("\u{e9}", "e\u{301}")
        #expect(one == two && JSONValue.string(one) != .string(two))
        #expect(JSONValue.string(one) == .string("\u{e9}"))
        // The same number of bytes in another order.
        #expect(JSONValue.string("a\u{301}\u{323}") != .string("a\u{323}\u{301}"))
        var text = "{\"\(one)\":1,\"\(two)\":2}"
        #expect(try JSONValue(parsing: text).text == text)
        // With so many members they are looked up.
        let others = (0..<20).map { "\"\($0)\":0" }.joined(separator: ",")
        text = "{\(others),\"\(one)\":1,\"\(two)\":2}"
        let object = try JSONValue(parsing: text)
        #expect(object.text == text && object[one] == 1 && object[two] == 2)
    }

    /// Strangers choose the names of members: those that Unicode calls equivalent must not meet in one place of a table.
    @Test func equivalentTextsHaveHashesOfTheirOwn() {
        var texts = [""]
        for _ in 0..<8 {
            texts = texts.flatMap { text in ["\u{c5}", "\u{212b}", "A\u{30a}"].map { text + $0 } }
        }
        #expect(Set(texts).count == 1)
        #expect(Set(texts.map { ExactText($0) }).count == texts.count)
        #expect(Set(texts.map { ExactText($0).hashValue }).count > texts.count * 9 / 10)
        #expect(Set(texts.map { JSONValue.string($0).hashValue }).count > texts.count * 9 / 10)
        #expect(
            Set(texts.map { JSONValue.object([$0: 1]).hashValue }).count > texts.count * 9 / 10)
    }

    /// What is nothing of its kind is fed to a hash as the same zeros, so the kind must be in it, too.
    @Test func valuesOfDifferentKindsHaveHashesOfTheirOwn() {
        let nothings: [JSONValue] = [
            .null, .bool(false), .int(0), .double(0), .string(""), .array([]), .object([:]),
        ]
        var lists: [[JSONValue]] = [[]]
        for _ in 0..<3 { lists = lists.flatMap { list in nothings.map { list + [$0] } } }
        #expect(Set((nothings + lists.map(JSONValue.array)).map(\.hashValue)).count == 7 + 343)
        let objects = lists.map { JSONValue.object(["a": $0[0], "b": $0[1], "c": $0[2]]) }
        #expect(Set(objects.map(\.hashValue)).count == 343)
    }

    static let unreadable: [(String, JSONError)] = [
        ("", JSONError(.unexpectedEnd, byteOffset: 0)),
        ("nul", JSONError(.unexpectedEnd, byteOffset: 3)),
        ("truE", JSONError(.unexpectedByte(0x45, expected: "\"true\""), byteOffset: 3)),
        ("01", JSONError(.invalidNumber, byteOffset: 0)),
        ("-", JSONError(.invalidNumber, byteOffset: 0)),
        ("1.", JSONError(.invalidNumber, byteOffset: 0)),
        ("1e+", JSONError(.invalidNumber, byteOffset: 0)),
        ("1e999", JSONError(.invalidNumber, byteOffset: 0)),
        ("\"a", JSONError(.unexpectedEnd, byteOffset: 2)),
        ("\"\\x\"", JSONError(.invalidEscape, byteOffset: 1)),
        ("\"\\u12g4\"", JSONError(.invalidEscape, byteOffset: 1)),
        ("\"a\nb\"", JSONError(.controlCharacterInString, byteOffset: 2)),
        ("[1 2]", JSONError(.unexpectedByte(0x32, expected: "\",\" or \"]\""), byteOffset: 3)),
        ("[1,]", JSONError(.unexpectedByte(0x5D, expected: "a value"), byteOffset: 3)),
        ("{\"a\" 1}", JSONError(.unexpectedByte(0x31, expected: "\":\""), byteOffset: 5)),
        ("{a:1}", JSONError(.unexpectedByte(0x61, expected: "a string"), byteOffset: 1)),
        ("1 2", JSONError(.bytesBehindValue, byteOffset: 2)),
    ]

    @Test(arguments: unreadable)
    func saysWhatIsWrongAndWhere(text: String, error: JSONError) {
        #expect(throws: error) { try JSONValue(parsing: text) }
    }

    @Test func invalidUTF8IsRefused() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] {
            #expect(throws: JSONError(.invalidUTF8, byteOffset: 1)) {
                try JSONValue(parsing: [0x22] + bytes + [0x22])
            }
        }
    }

    @Test func nestingIsBounded() throws {
        let deep = String(repeating: "[", count: 513)
        #expect(throws: JSONError(.nestedTooDeep(limit: 512), byteOffset: 512)) {
            try JSONValue(parsing: deep)
        }
        let allowed = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        _ = try JSONValue(parsing: allowed)
    }

    @Test func skippingGivesTheBytesOfTheValue() throws {
        let text = #"{"a": {"b": [1, "]"]} , "c": 2}"#
        let skipped = try Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            var skipped: [String] = []
            try reader.beginObject()
            while try reader.nextKey() != nil {
                skipped.append(String(decoding: try reader.skipValue(), as: UTF8.self))
            }
            try reader.finish()
            return skipped
        }
        #expect(skipped == [#"{"b": [1, "]"]}"#, "2"])
    }

    @Test func damagedTextNeverTrapsAndWhatIsReadReadsBack() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let text = Array(#"{"a":[1,-2.5e3,"x\u00e9\n",true,null,{"b":{}}],"é":"😀"}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] =
                    UInt8.random(in: 0 ... .max, using: &generator)
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            #expect(try JSONValue(parsing: value.bytes) == value, "seed \(seed)")
        }
    }
}
