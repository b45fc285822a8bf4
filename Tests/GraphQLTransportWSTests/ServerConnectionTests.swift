import BoundedTesting
import RelayJSON
import Testing

@testable import GraphQLTransportWS

struct ServerConnectionTests {
    private typealias Action = ServerConnection.Action

    private static let initText = #"{"type":"connection_init"}"#
    private static let ack = #"{"type":"connection_ack"}"#
    private static func subscribe(_ id: String) -> String {
        #"{"type":"subscribe","id":"\#(id)","payload":{"query":"{ a }"}}"#
    }
    private static func complete(_ id: String) -> String { #"{"type":"complete","id":"\#(id)"}"# }

    /// A readable form of actions: what is sent, closed, started, stopped.
    private func texts(_ actions: [Action]) -> [String] {
        actions.map { action in
            switch action {
            case .send(let bytes): "send " + String(decoding: bytes, as: UTF8.self)
            case .close(let close): "close \(close.code) \(close.reason)"
            case .authenticate(let payload):
                "authenticate \(payload.map { JSONValue.object($0).text } ?? "-")"
            case .pinged(let payload): "pinged \(JSONValue.object(payload).text)"
            case .start(let operation, _): "start \(operation.id)"
            case .stop(let operation): "stop \(operation.id)"
            }
        }
    }

    /// The states a connection can be in.
    private enum State: CaseIterable {
        case new, authenticating, ready, busy, closed

        func make() -> ServerConnection {
            var machine = ServerConnection()
            if self == .new { return machine }
            _ = machine.receive(Array(initText.utf8))
            if self == .authenticating { return machine }
            _ = machine.accept()
            if self == .ready { return machine }
            _ = machine.receive(Array(subscribe("1").utf8))
            if self == .busy { return machine }
            _ = machine.socketClosed()
            return machine
        }
    }

    @Test func everyMessageInEveryState() {
        let tooMany = "close 4429 Too many initialisation requests"
        let unauthorized = "close 4401 Unauthorized"
        let expected: [(String, [State: [String]])] = [
            (
                Self.initText,
                [
                    .new: ["authenticate -"], .authenticating: [tooMany], .ready: [tooMany],
                    .busy: ["stop 1", tooMany], .closed: [],
                ]
            ),
            (
                #"{"type":"ping","payload":{"a":1}}"#,
                [
                    .new: [#"send {"type":"pong","payload":{"a":1}}"#],
                    .authenticating: [#"send {"type":"pong","payload":{"a":1}}"#],
                    .ready: [#"send {"type":"pong","payload":{"a":1}}"#, #"pinged {"a":1}"#],
                    .busy: [#"send {"type":"pong","payload":{"a":1}}"#, #"pinged {"a":1}"#],
                    .closed: [],
                ]
            ),
            (
                #"{"type":"pong"}"#,
                [.new: [], .authenticating: [], .ready: [], .busy: [], .closed: []]
            ),
            (
                Self.subscribe("1"),
                [
                    .new: [unauthorized], .authenticating: [unauthorized], .ready: ["start 1"],
                    .busy: ["stop 1", "close 4409 Subscriber for 1 already exists"], .closed: [],
                ]
            ),
            (
                Self.subscribe("2"),
                [
                    .new: [unauthorized], .authenticating: [unauthorized], .ready: ["start 2"],
                    .busy: ["start 2"], .closed: [],
                ]
            ),
            (
                Self.complete("1"),
                [.new: [], .authenticating: [], .ready: [], .busy: ["stop 1"], .closed: []]
            ),
            (
                "{}",
                [
                    .new: [#"close 4400 Message is missing the "type" property that is a string"#],
                    .authenticating: [
                        #"close 4400 Message is missing the "type" property that is a string"#
                    ],
                    .ready: [
                        #"close 4400 Message is missing the "type" property that is a string"#
                    ],
                    .busy: [
                        "stop 1",
                        #"close 4400 Message is missing the "type" property that is a string"#,
                    ], .closed: [],
                ]
            ),
        ]
        for (message, outcomes) in expected {
            for state in State.allCases {
                var machine = state.make()
                let actions = texts(machine.receive(Array(message.utf8)))
                #expect(actions == outcomes[state], "\(message) in state \(state)")
            }
        }
    }

    @Test func idsHaveABound() {
        var machine = State.ready.make()
        let longest = String(repeating: "é", count: ServerConnection.idBytes / 2)
        #expect(
            texts(machine.receive(Array(Self.subscribe(longest).utf8))) == ["start \(longest)"])
        #expect(
            texts(machine.receive(Array(Self.subscribe(longest + "x").utf8)))
                == ["stop \(longest)", "close 4400 An \"id\" may have at most 256 bytes"])
    }

    @Test func onlyASubscribeOnAnAcknowledgedConnectionMayBeLong() {
        let filler = String(repeating: " ", count: ServerConnection.shortMessageBytes)
        let tooLong =
            "close 4400 Only a \"subscribe\" message after \"connection_ack\" may have more than 65536 bytes"
        for state in State.allCases where state != .closed {
            let isReady = state == .ready || state == .busy
            let stops = state == .busy ? ["stop 1"] : []
            var machine = state.make()
            #expect(
                texts(machine.receive(Array((Self.subscribe("2") + filler).utf8)))
                    == (isReady ? ["start 2"] : [tooLong]))
            for text in [
                Self.initText, #"{"type":"ping"}"#, #"{"type":"pong"}"#, Self.complete("1"),
            ] {
                var machine = state.make()
                #expect(
                    texts(machine.receive(Array((text + filler).utf8))) == stops + [tooLong],
                    "\(text) in state \(state)")
            }
        }
    }

    @Test func bytesOfOperationsAreCountedUntilTheyEnd() throws {
        var machine = State.ready.make()
        let texts = ["a", "bb", "ccc", "dddd"].map { Array(Self.subscribe($0).utf8) }
        let operations = try texts.map { try operation(machine.receive($0)) }
        #expect(machine.operationBytes == texts.map(\.count).reduce(0, +))
        _ = machine.receive(Array(Self.complete("a").utf8))
        _ = machine.error(operations[1], [])
        _ = machine.complete(operations[2])
        _ = machine.complete(operations[2])
        #expect(machine.operationBytes == texts[3].count)
        _ = machine.socketClosed()
        #expect(machine.operationBytes == 0)
    }

    @Test func everyOtherInputInEveryState() {
        let outcomes: [State: [[String]]] = [
            .new: [
                [], [], ["close 4408 Connection initialisation timeout"], [],
                ["close 4400 Binary messages are not part of the protocol"],
            ],
            .authenticating: [
                ["send " + Self.ack], ["close 4403 Forbidden"], [], [],
                ["close 4400 Binary messages are not part of the protocol"],
            ],
            .ready: [
                [], [], [], [], ["close 4400 Binary messages are not part of the protocol"],
            ],
            .busy: [
                [], [], [], ["stop 1"],
                ["stop 1", "close 4400 Binary messages are not part of the protocol"],
            ],
            .closed: [[], [], [], [], []],
        ]
        let inputs: [(inout ServerConnection) -> [Action]] = [
            { $0.accept() }, { $0.refuse() }, { $0.initialisationTimedOut() },
            { $0.socketClosed() }, { $0.receiveBinary() },
        ]
        for state in State.allCases {
            let actions = inputs.map { input in
                var machine = state.make()
                return texts(input(&machine))
            }
            #expect(actions == outcomes[state], "\(state)")
        }
    }

    @Test func theAcknowledgementMayCarryAPayload() {
        var machine = State.authenticating.make()
        #expect(
            texts(machine.accept(payload: ["v": 1]))
                == [#"send {"type":"connection_ack","payload":{"v":1}}"#])
        #expect(machine.isReady)
    }

    @Test func anIdIsFreeAgainAfterEitherSidesEnd() throws {
        for end in ["complete by client", "complete by server", "error"] {
            var machine = State.ready.make()
            let first = try operation(machine.receive(Array(Self.subscribe("1").utf8)))
            #expect(machine.wants(first))
            switch end {
            case "complete by client":
                #expect(texts(machine.receive(Array(Self.complete("1").utf8))) == ["stop 1"])
            case "complete by server":
                #expect(texts(machine.complete(first)) == [#"send {"id":"1","type":"complete"}"#])
            default:
                #expect(
                    texts(machine.error(first, [["message": "no"]]))
                        == [#"send {"id":"1","type":"error","payload":[{"message":"no"}]}"#])
            }
            #expect(!machine.wants(first))
            #expect(machine.operationCount == 0)
            let second = try operation(machine.receive(Array(Self.subscribe("1").utf8)))
            // What is late for the first use of the id must not reach the second one.
            #expect(!machine.wants(first))
            #expect(machine.complete(first) == [])
            #expect(machine.error(first, []) == [])
            #expect(machine.wants(second))
        }
    }

    @Test func messagesThatHaveCrossedAreIgnored() throws {
        var machine = State.ready.make()
        let operation = try operation(machine.receive(Array(Self.subscribe("1").utf8)))
        _ = machine.complete(operation)
        #expect(machine.receive(Array(Self.complete("1").utf8)) == [])
        #expect(machine.receive(Array(Self.complete("never").utf8)) == [])
    }

    @Test func anOperationHasTheBytesOfItsMessage() throws {
        var machine = State.ready.make()
        let text = Self.subscribe("1") + String(repeating: " ", count: 70_000)
        #expect(try operation(machine.receive(Array(text.utf8))).byteCount == text.utf8.count)
        #expect(machine.operationBytes == text.utf8.count)
        _ = machine.receive(Array(Self.complete("1").utf8))
        #expect(machine.operationBytes == 0)
    }

    private func operation(_ actions: [Action]) throws -> ServerConnection.Operation {
        guard case .start(let operation, _)? = actions.first else {
            throw InvalidMessage("nothing was started: \(actions)")
        }
        return operation
    }

    @Test func anyBytesAtAllLeaveTheMachineWhole() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            Self.initText, Self.subscribe("1"), Self.subscribe("2"), Self.complete("1"),
            #"{"type":"ping"}"#, #"{"type":"pong","payload":{}}"#, "{", "}", "\"", "\\u00", "null",
        ]
        for round in 0..<5_000 {
            var machine = ServerConnection()
            var started = 0
            var stopped = 0
            for _ in 0..<10 {
                var bytes = Array(pieces.randomElement(using: &random)?.utf8 ?? "".utf8)
                for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                        UInt8.random(in: 0...255, using: &random)
                }
                var actions = machine.receive(bytes)
                if Bool.random(using: &random) { actions += machine.accept() }
                started += actions.count { if case .start = $0 { true } else { false } }
                stopped += actions.count { if case .stop = $0 { true } else { false } }
                #expect(
                    started - stopped == machine.operationCount, "seed \(seed), round \(round)")
            }
        }
    }
}
