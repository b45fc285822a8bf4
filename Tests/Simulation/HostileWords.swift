import GraphQLExecution
import RelayJSON

/// What a hostile client picks its words from.
enum HostileWords {
    /// Half a character, which JSON can say and a string can't hold.
    private static let loneSurrogate = JSONValue.string("\u{E001}")

    // MARK: What is no message

    static let frames: [[UInt8]] = {
        let texts = [
            "", " ", "null", "[]", "1e400", "\"subscribe\"", "{", "{}", #"{"type""#, #"{"type":}"#,
            #"{"type":1}"#, #"{"type":null}"#, #"{"type":"nonsense"}"#,
            #"{"type":"next","id":"1","payload":{}}"#, #"{"type":"subscribe"}"#,
            #"{"type":"subscribe","id":"1"}"#, #"{"type":"subscribe","id":1,"payload":{}}"#,
            #"{"type":"subscribe","id":"","payload":{"query":"{user{id}}"}}"#,
            #"{"type":"subscribe","id":"1","payload":[]}"#,
            #"{"type":"subscribe","id":"1","payload":{}}"#,
            #"{"type":"subscribe","id":"1","payload":{"query":1e400}}"#,
            #"{"type":"subscribe","id":"1","payload":{"query":"{user{id}}","variables":[]}}"#,
            #"{"type":"subscribe","id":"1","payload":{"query":"{user{id}}","extensions":-1}}"#,
            #"{"type":"subscribe","id":"1","payload":{"query":"{user{id}}","operationName":{}}}"#,
            #"{"type":"subscribe","id":""# + String(repeating: "i", count: 257)
                + #"","payload":{"query":"{user{id}}"}}"#,
            #"{"type":"complete"}"#, #"{"type":"complete","id":18446744073709551616}"#,
            #"{"type":"ping","payload":"p"}"#, #"{"type":"connection_init","payload":[1]}"#,
            #"{"type":"ping","payload":{"n":NaN}}"#, #"{"type":"ping","payload":{"n":-}}"#,
            #"{"type":"ping","payload":{"n":1e}}"#, #"{"type":"ping","payload":{"n":0x10}}"#,
            #"{"type":"ping"} {"type":"ping"}"#,
            #"{"type":"ping","payload":{"deep":"# + nested(100_000) + "}}",
            String(repeating: #"{"a":"#, count: 100_000),
            #"{"type":"ping","payload":{"long":""# + String(repeating: "x", count: 70_000)
                + #""}}"#,
        ]
        let notText: [[UInt8]] = [
            [0], [0xFF, 0xFE], (0...255).map { $0 },
            Array(#"{"type":"ping"#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8),
            Array(#"{"type":"pi"#.utf8) + [0xED, 0xA0, 0x80] + Array(#"ng"}"#.utf8),
        ]
        return texts.map { Array($0.utf8) } + notText
    }()

    // MARK: Documents that are refused

    static let documents: [String] = {
        let page = "{ edges { node { id } } }"
        let counts = [
            "2147483648", "-2147483649", "-1", "1e400", "1.0", "99999999999999999999999", "true",
        ]
        let counted = counts.flatMap {
            ["{ user { todos(first: \($0)) \(page) } }", "{ user { todos(last: \($0)) \(page) } }"]
        }
        return counted + [
            "", "{", "}", "\u{0}", "{ user { id } } \u{FFFF}", "{ user }", "{ user { nope } }",
            "{ user { id { x } } }", "{ user(id: 5.5) { id } }", "{ user(id: {}) { id } }",
            "{ user @nope { id } }", "{ user { todos(after: \"p1\") \(page) } }",
            "query ($x: Nope) { user { id } }", "query A { user { id } } query A { user { id } }",
            "query A { user { id } } query B { user { id } }", "{ user { id } } { user { id } }",
            "{ ...F } fragment F on Query { ...F }", "fragment F on Query { user { id } }",
            "query ($n: Int = 2147483648) { user { todos(first: $n) \(page) } }",
            "query ($n: Int!) { user { todos(first: $n) \(page) } }",
            "mutation { addTodo { todo { id } } }", "mutation { __typename { x } }",
            "mutation { addTodo(input: { text: 1 }) { todo { id } } }",
            "mutation { addTodo(input: { text: null }) { todo { id } } }",
            "subscription { a: todoAdded { todo { id } } b: todoRemoved { deletedTodoId } }",
            "subscription { todo(id: null) { id } }", "subscription { user { nope } }",
            "{ user(id: \(nested(5_000))) { id } }", String(repeating: "{ user ", count: 5_000),
            "{ " + (0...501).map { "a\($0): user { id }" }.joined(separator: " ") + " }",
            "{ user { id } } #" + String(repeating: "x", count: 300_000),
        ]
    }()

    // MARK: Values

    static let numbers = [
        "0", "-0", "-1", "0.1", "1e-400", "1E+2", "2147483648", "-2147483649", "9007199254740993",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e400", "-1e400",
        "123456789012345678901234567890",
    ].map(JSONValue.raw)

    /// What is no number that fits an `Int`, and nothing that stands for one.
    static let noInt: [JSONValue] =
        [
            "2147483648", "-2147483649", "9223372036854775808", "-9223372036854775809", "1e400",
            "-1e400", "0.1",
        ].map(JSONValue.raw) + ["1", "NaN", "", true, [:], [1, 2]]

    /// What is no text.
    static let noText: [JSONValue] = [.null, true, [:], [], .raw("1e400"), .raw("0.1")]

    /// Anything, in place of anything.
    static let values: [JSONValue] =
        numbers + cursors + [
            .null, true, false, "", "\u{0}", loneSurrogate, "NaN", "-1", "18446744073709551616",
            "__proto__", [],
            [:], ["a": ["b": .null]], [.null, [.null, []]], .raw(nested(100)),
            .string(String(repeating: "\u{1F984}", count: 25)), "c1:1", "h:18446744073709551615",
        ]

    /// Positions in connections, most of which no link has.
    static let cursors: [JSONValue] = [
        "p0", "p1", "p2", "p1000000", "p9223372036854775806", "p9223372036854775807",
    ].map { .string(Base64URL.encode(Array($0.utf8))) }

    static let wrongCursors: [JSONValue] =
        [
            "p", "q1", "p-1", "p+1", "p1.0", "p1e400", "p9223372036854775808",
            "p18446744073709551616",
        ]
        .map { .string(Base64URL.encode(Array($0.utf8))) } + ["", "nope", "\u{0}", "cDE="]

    // MARK: Extensions

    /// Any client's, as another viewer may name its clients as it likes.
    static let mutationIDs: [JSONValue] = [
        "h:0", "h:1", "h:2", "h:9223372036854775807", "h:9223372036854775808",
        "h:18446744073709551614", "h:18446744073709551615", "c1:1", "c3:18446744073709551615",
        "r1:2", "::7", "\u{0}:7",
    ]

    static let wrongMutationIDs: [JSONValue] =
        numbers + [
            "", ":", ":1", "h", "h:", "h:-1", "h:+1", "h:01", "h:1.0", "h:1e3", "h:NaN", "h: 1",
            "h:18446744073709551616", .string(String(repeating: "h", count: 257) + ":1"), true, [],
            [:],
        ]

    /// What is no event's number.
    static let wrongSequences: [JSONValue] =
        [
            "0", "-0", "-1", "0.1", "9223372036854775808", "-9223372036854775808",
            "-9223372036854775809", "18446744073709551616", "1e400", "-1e400",
        ].map(JSONValue.raw) + ["", "0", "-1", "1.0", "18446744073709551616", true, [], [:]]

    static let wrongTimes: [JSONValue] = [
        "NaN", "2026-13-45T00:00:00Z", "10000-01-01T00:00:00Z", "2026-01-01",
    ]

    static let sequences: [JSONValue] = [1, 2, .int(.max - 1), .int(.max)]

    static let times: [JSONValue] = [
        "9223372036854775808", "18446744073709551615", "0000-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z",
    ]

    static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
}

// What cannot be said by a value: a number that none holds, or lists that are nested too deep.
extension JSONValue {
    private static let mark = "\u{E000}"

    /// Stands as it is where ``hostileText`` writes it.
    static func raw(_ text: String) -> JSONValue { .string(mark + text + mark) }

    /// It has a number that is none, so that no message that has it can be read.
    var isUnreadable: Bool {
        text.contains("\(Self.mark)1e400") || text.contains("\(Self.mark)-1e400")
    }

    var hostileText: String {
        text.replacing("\"\(Self.mark)", with: "").replacing("\(Self.mark)\"", with: "")
            .replacing("\u{E001}", with: "\\ud83d")
    }
}
