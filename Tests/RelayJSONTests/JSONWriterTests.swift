import RelayJSON
import Testing

@Suite struct JSONWriterTests {
    static let writable: [(JSONValue, String)] = [
        (.int(.min), "-9223372036854775808"), (.int(.max), "9223372036854775807"),
        (0, "0"), (7, "7"), (-7, "-7"), (1234, "1234"), (0.1, "0.1"), (1.0, "1.0"),
        (.double(.infinity), "null"), (.double(.nan), "null"), (true, "true"),
        ("\u{1}\u{1F}\"\\/\n\t\r\u{8}\u{C}é😀", #""\u0001\u001f\"\\/\n\t\r\b\fé😀""#),
        ([1, "a", nil, [:]], #"[1,"a",null,{}]"#), (["b": 1, "a": [2]], #"{"b":1,"a":[2]}"#),
    ]

    @Test(arguments: writable)
    func writesCompactJSON(value: JSONValue, text: String) {
        #expect(value.text == text)
    }

    @Test func aLimitIsExceededByTheFirstByteTooMany() {
        for limit in [0, 1, 31, 32, 33, 1_000, 100_000] {
            var writer = JSONWriter(limit: limit)
            for _ in 0..<limit { writer.raw(UInt8(ascii: "1")) }
            let isFull = writer.exceedsLimit
            writer.raw(UInt8(ascii: "1"))
            let isTooMuch = writer.exceedsLimit
            #expect(!isFull && isTooMuch, "\(limit)")
            // What is written all the same is right.
            for _ in 0..<limit { writer.raw(UInt8(ascii: "1")) }
            let bytes = writer.bytes
            #expect(bytes == Array(repeating: UInt8(ascii: "1"), count: 2 * limit + 1))
            writer.truncate(to: 0)
            let isStill = writer.exceedsLimit
            #expect(isStill, "\(limit)")
        }
    }

    @Test func membersKeepTheirOrderAndEqualityIgnoresIt() {
        let one: JSONObject = ["a": 1, "b": 2]
        let other: JSONObject = ["b": 2, "a": 1]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one.keys == ["a", "b"])
    }

    @Test func aLargeObjectFindsAndLosesItsMembers() {
        var object = JSONObject()
        for index in 0..<100 { object["key \(index)"] = .int(Int64(index)) }
        #expect(object["key 73"] == 73)
        object["key 50"] = nil
        #expect(object.count == 99)
        #expect(object["key 50"] == nil)
        #expect(object["key 99"] == 99)
    }
}
