import RelayJSON
import Testing

@testable import GraphQLTransportWS

struct MessageTests {
    @Test(arguments: [
        (
            #"{"type":"connection_init"}"#,
            ClientMessage.connectionInit(payload: nil)
        ),
        (
            #"{"type":"connection_init","payload":{"token":"T"}}"#,
            .connectionInit(payload: ["token": "T"])
        ),
        (#"{"type":"ping"}"#, .ping(payload: nil)),
        (#"{"type":"pong","payload":{"a":[1,2.5,null]}}"#, .pong(payload: ["a": [1, 2.5, nil]])),
        (
            #"{"id":"é\"1","type":"subscribe","payload":{"query":"{ a }","variables":{"x":1}}}"#,
            .subscribe(id: "é\"1", payload: ["query": "{ a }", "variables": ["x": 1]])
        ),
        (#"{"id":"1","type":"complete"}"#, .complete(id: "1")),
    ])
    func clientMessagesAreReadAndWritten(_ text: String, _ message: ClientMessage) throws {
        #expect(try ClientMessage(Array(text.utf8)) == message)
        #expect(String(decoding: message.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        (#"{"type":"connection_ack"}"#, ServerMessage.connectionAck(payload: nil)),
        (#"{"type":"connection_ack","payload":{"v":1}}"#, .connectionAck(payload: ["v": 1])),
        (
            #"{"type":"ping","payload":{"relay":{"cursor":"c"}}}"#,
            .ping(payload: ["relay": ["cursor": "c"]])
        ),
        (#"{"type":"pong"}"#, .pong(payload: nil)),
        (
            #"{"id":"1","type":"next","payload":{"data":{"a":1}}}"#,
            .next(id: "1", payload: ["data": ["a": 1]])
        ),
        (
            #"{"id":"1","type":"error","payload":[{"message":"no"}]}"#,
            .error(id: "1", payload: [["message": "no"]])
        ),
        (#"{"id":"1","type":"complete"}"#, .complete(id: "1")),
    ])
    func serverMessagesAreReadAndWritten(_ text: String, _ message: ServerMessage) throws {
        #expect(try ServerMessage(Array(text.utf8)) == message)
        #expect(String(decoding: message.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        ("", "Invalid message received: Invalid JSON at byte 0: the text ends too early."),
        ("[]", #"Invalid message received: Invalid JSON at byte 0: expected "{", found "["."#),
        ("{}", #"Message is missing the "type" property that is a string"#),
        (#"{"type":1}"#, #"Message is missing the "type" property that is a string"#),
        (#"{"type":"start"}"#, #"Invalid message "type" property "start""#),
        (#"{"type":"next","id":"1","payload":{}}"#, #"Invalid message "type" property "next""#),
        (
            #"{"type":"connection_init","payload":[]}"#,
            #""connection_init" message expects the "payload" property to be an object or null or missing"#
        ),
        (
            #"{"type":"subscribe","payload":{"query":""}}"#,
            #""subscribe" message expects the "id" property to be a string"#
        ),
        (
            #"{"type":"subscribe","id":1,"payload":{"query":""}}"#,
            #""subscribe" message expects the "id" property to be a string"#
        ),
        (
            #"{"type":"subscribe","id":"","payload":{"query":""}}"#,
            #""subscribe" message requires a non-empty "id" property"#
        ),
        (
            #"{"type":"subscribe","id":"1"}"#,
            #""subscribe" message expects the "payload" property"#
        ),
        (
            #"{"type":"subscribe","id":"1","payload":{}}"#,
            #""subscribe" message payload expects the "query" property to be a string"#
        ),
        (
            #"{"type":"subscribe","id":"1","payload":{"query":"","operationName":1}}"#,
            #""subscribe" message payload expects the "operationName" property to be a string or null or missing"#
        ),
        (
            #"{"type":"subscribe","id":"1","payload":{"query":"","variables":"{}"}}"#,
            #""subscribe" message payload expects the "variables" property to be an object or null or missing"#
        ),
        (
            #"{"type":"subscribe","id":"1","payload":{"query":"","extensions":[]}}"#,
            #""subscribe" message payload expects the "extensions" property to be an object or null or missing"#
        ),
        (#"{"type":"complete"}"#, #""complete" message expects the "id" property to be a string"#),
    ])
    func whatIsWrongWithAMessageIsSaid(_ text: String, _ reason: String) {
        #expect(throws: InvalidMessage(reason)) { try ClientMessage(Array(text.utf8)) }
    }

    @Test func nullIsAsGoodAsAbsent() throws {
        let text = """
            {"type":"subscribe","id":"1","payload":{"query":"q","operationName":null,\
            "variables":null,"extensions":null}}
            """
        guard case .subscribe = try ClientMessage(Array(text.utf8)) else {
            Issue.record("it is no subscribe message")
            return
        }
        #expect(
            try ClientMessage(Array(#"{"type":"ping","payload":null}"#.utf8)) == .ping(payload: nil)
        )
    }

    @Test func ofTwoMembersWithOneNameTheLastCounts() throws {
        #expect(
            try ClientMessage(Array(#"{"type":"pong","\u0074ype":"ping"}"#.utf8))
                == .ping(payload: nil))
    }

    @Test func aSharedResultMakesTheSameMessageAsAResultOfItsOwn() {
        let result = JSONValue.object(["data": ["a": "ü"]])
        let shared =
            ServerMessage.nextPrefix(id: "x\"1") + result.bytes + ServerMessage.nextSuffix
        #expect(shared == ServerMessage.next(id: "x\"1", payload: result.object ?? [:]).bytes)
    }
}
