import BoundedTesting
import RelayJSON
import Testing

@testable import GraphQLTransportWS

struct ClientConnectionTests {
    private typealias Action = ClientConnection.Action

    private static let ack = Array(#"{"type":"connection_ack","payload":{"v":1}}"#.utf8)
    private static let request: JSONObject = ["query": "{ a }"]

    private func texts(_ actions: [Action]) -> [String] {
        actions.map { action in
            switch action {
            case .send(let bytes): "send " + String(decoding: bytes, as: UTF8.self)
            case .close(let close): "close \(close.code) \(close.reason)"
            case .acknowledged: "acknowledged"
            case .next(let operation, let payload, _):
                "next \(operation.id) " + String(decoding: payload, as: UTF8.self)
            case .failed(let operation, let errors):
                "failed \(operation.id) \(JSONValue.array(errors).text)"
            case .completed(let operation): "completed \(operation.id)"
            case .interrupted(let operation): "interrupted \(operation.id)"
            case .pinged: "pinged"
            case .ponged: "ponged"
            }
        }
    }

    private enum State: CaseIterable {
        case new, awaiting, ready, closed

        /// A machine in this state, with operation 1 asked for where that can be.
        func make() -> ClientConnection {
            var machine = ClientConnection()
            if self == .new { return machine }
            _ = machine.socketOpened()
            _ = machine.subscribe(request)
            if self == .awaiting { return machine }
            _ = machine.receive(ack)
            if self == .ready { return machine }
            _ = machine.socketClosed()
            return machine
        }
    }

    private static let subscribe1 =
        #"send {"id":"1","type":"subscribe","payload":{"query":"{ a }"}}"#

    @Test func everyMessageInEveryState() {
        let early = ["close 4004 Nothing was expected before connection_init"]
        let next = #"{"type":"next","id":"1","payload":{ "data": {"a":1} }}"#
        let expected: [(String, awaiting: [String], ready: [String])] = [
            (
                #"{"type":"connection_ack"}"#, ["acknowledged", Self.subscribe1],
                ["interrupted 1", "close 4004 The connection has been acknowledged before"]
            ),
            (
                #"{"type":"ping","payload":{"a":1}}"#,
                [#"send {"type":"pong","payload":{"a":1}}"#, "pinged"],
                [#"send {"type":"pong","payload":{"a":1}}"#, "pinged"]
            ),
            (#"{"type":"pong"}"#, ["ponged"], ["ponged"]),
            (next, [#"next 1 { "data": {"a":1} }"#], [#"next 1 { "data": {"a":1} }"#]),
            (#"{"type":"next","id":"7","payload":{}}"#, [], []),
            (
                #"{"type":"error","id":"1","payload":[{"message":"no"}]}"#,
                [#"failed 1 [{"message":"no"}]"#], [#"failed 1 [{"message":"no"}]"#]
            ),
            (#"{"type":"complete","id":"1"}"#, ["completed 1"], ["completed 1"]),
            (#"{"type":"complete","id":"7"}"#, [], []),
            (
                #"{"type":"next","id":"1","payload":[]}"#,
                [
                    "interrupted 1",
                    #"close 4004 "next" message expects the "payload" property to be an object"#,
                ],
                [
                    "interrupted 1",
                    #"close 4004 "next" message expects the "payload" property to be an object"#,
                ]
            ),
            (
                #"{"type":"subscribe","id":"1","payload":{"query":""}}"#,
                ["interrupted 1", #"close 4004 Invalid message "type" property "subscribe""#],
                ["interrupted 1", #"close 4004 Invalid message "type" property "subscribe""#]
            ),
        ]
        for (message, awaiting, ready) in expected {
            let outcomes: [State: [String]] = [
                .new: early, .awaiting: awaiting, .ready: ready, .closed: [],
            ]
            for state in State.allCases {
                var machine = state.make()
                let actions = texts(machine.receive(Array(message.utf8)))
                #expect(actions == outcomes[state], "\(message) in state \(state)")
            }
        }
    }

    @Test func everyOtherInputInEveryState() {
        let outcomes: [State: [[String]]] = [
            .new: [
                [#"send {"type":"connection_init"}"#], ["interrupted 1"], [], [],
                ["close 1000 Normal Closure"], [],
            ],
            .awaiting: [
                [], [], [#"send {"type":"ping"}"#],
                ["interrupted 1", "close 4504 Connection acknowledgement timeout"],
                ["interrupted 1", "close 1000 Normal Closure"], ["interrupted 1"],
            ],
            .ready: [
                [], [Self.subscribe1.replacing(#""1""#, with: #""2""#)],
                [#"send {"type":"ping"}"#], [], ["interrupted 1", "close 1000 Normal Closure"],
                ["interrupted 1"],
            ],
            .closed: [[], ["interrupted 2"], [], [], [], []],
        ]
        let inputs: [(inout ClientConnection) -> [Action]] = [
            { $0.socketOpened() }, { $0.subscribe(Self.request).1 }, { $0.ping() },
            { $0.acknowledgementTimedOut() }, { $0.close() }, { $0.socketClosed() },
        ]
        for state in State.allCases {
            let actions = inputs.map { input in
                var machine = state.make()
                return texts(input(&machine))
            }
            #expect(actions == outcomes[state], "\(state)")
        }
    }

    @Test func theTokenTravelsInConnectionInit() {
        var machine = ClientConnection()
        #expect(
            texts(machine.socketOpened(payload: ["token": "T"]))
                == [#"send {"type":"connection_init","payload":{"token":"T"}}"#])
    }

    @Test func whatIsStoppedBeforeTheAcknowledgementIsNeverSent() {
        var machine = ClientConnection()
        _ = machine.socketOpened()
        let (first, _) = machine.subscribe(Self.request)
        let (second, _) = machine.subscribe(Self.request)
        #expect(machine.stop(first) == [])
        #expect(
            texts(machine.receive(Self.ack)) == [
                "acknowledged",
                #"send {"id":"2","type":"subscribe","payload":{"query":"{ a }"}}"#,
            ])
        #expect(texts(machine.stop(second)) == [#"send {"id":"2","type":"complete"}"#])
        #expect(machine.stop(second) == [])
        #expect(machine.operationCount == 0)
    }

    @Test func whatComesAfterAStopIsDropped() {
        var machine = ClientConnection()
        _ = machine.socketOpened()
        _ = machine.receive(Self.ack)
        let (operation, _) = machine.subscribe(Self.request)
        _ = machine.stop(operation)
        for late in [
            #"{"type":"next","id":"1","payload":{}}"#, #"{"type":"error","id":"1","payload":[]}"#,
            #"{"type":"complete","id":"1"}"#,
        ] {
            #expect(machine.receive(Array(late.utf8)) == [])
        }
    }

    @Test func bothMachinesUnderstandEachOther() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<300 {
            var pair = Pair()
            for _ in 0..<60 { pair.step(&random) }
            pair.settle()
            #expect(pair.closes == [], "seed \(seed), round \(round)")
            #expect(
                pair.server.operationCount == pair.client.operationCount,
                "seed \(seed), round \(round)")
            #expect(pair.received == pair.wanted, "seed \(seed), round \(round)")
        }
    }

    /// A client and a server whose messages take their time, and cross.
    private struct Pair {
        var client = ClientConnection()
        var server = ServerConnection()
        var toServer: [[UInt8]] = []
        var toClient: [[UInt8]] = []
        var closes: [CloseCode] = []
        /// The numbers of the results each operation got, and those it should have got.
        var received: [String: [Int]] = [:]
        var wanted: [String: [Int]] = [:]
        private var serving: [ServerConnection.Operation: Int] = [:]
        private var asked: [ClientConnection.Operation] = []
        private var stopped: Set<String> = []

        init() { perform(client.socketOpened()) }

        mutating func step(_ random: inout SeededGenerator) {
            switch Int.random(in: 0..<7, using: &random) {
            case 0:
                let (operation, actions) = client.subscribe(ClientConnectionTests.request)
                asked.append(operation)
                perform(actions)
            case 1:
                guard let operation = asked.randomElement(using: &random) else { return }
                // From here on it does not matter what has come.
                stopped.insert(operation.id)
                perform(client.stop(operation))
            case 2: deliverToServer()
            case 3: deliverToClient()
            case 4: perform(client.ping())
            case 5:
                guard
                    let operation = serving.keys.sorted(by: { $0.id < $1.id })
                        .randomElement(using: &random)
                else { return }
                sendNext(operation)
            default:
                guard
                    let operation = serving.keys.sorted(by: { $0.id < $1.id })
                        .randomElement(using: &random)
                else { return }
                serving[operation] = nil
                perform(
                    Bool.random(using: &random)
                        ? server.complete(operation) : server.error(operation, []))
            }
        }

        /// Everything under way arrives.
        mutating func settle() {
            while !toServer.isEmpty || !toClient.isEmpty {
                deliverToServer()
                deliverToClient()
            }
            for id in stopped {
                received[id] = nil
                wanted[id] = nil
            }
        }

        private mutating func sendNext(_ operation: ServerConnection.Operation) {
            guard server.wants(operation) else { return }
            let number = (serving[operation] ?? 0) + 1
            serving[operation] = number
            wanted[operation.id, default: []].append(number)
            toClient.append(
                ServerMessage.nextPrefix(id: operation.id) + Array("{\"data\":\(number)}".utf8)
                    + ServerMessage.nextSuffix)
        }

        private mutating func deliverToServer() {
            if !toServer.isEmpty { perform(server.receive(toServer.removeFirst())) }
        }

        private mutating func deliverToClient() {
            if !toClient.isEmpty { perform(client.receive(toClient.removeFirst())) }
        }

        private mutating func perform(_ actions: [ServerConnection.Action]) {
            for action in actions {
                switch action {
                case .send(let bytes): toClient.append(bytes)
                case .close(let code): closes.append(code)
                case .authenticate: perform(server.accept())
                case .pinged: break
                case .start(let operation, _): serving[operation] = 0
                case .stop(let operation): serving[operation] = nil
                }
            }
        }

        private mutating func perform(_ actions: [ClientConnection.Action]) {
            for action in actions {
                switch action {
                case .send(let bytes): toServer.append(bytes)
                case .close(let code): closes.append(code)
                case .next(let operation, let payload, _):
                    let number = (try? JSONValue(parsing: payload))?["data"]?.int ?? -1
                    received[operation.id, default: []].append(Int(number))
                case .acknowledged, .failed, .completed, .interrupted, .pinged, .ponged: break
                }
            }
        }
    }

    @Test func anyBytesAtAllLeaveTheMachineWhole() {
        let seed = UInt64.random(in: 1 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            String(decoding: Self.ack, as: UTF8.self), #"{"type":"next","id":"1","payload":{}}"#,
            #"{"type":"error","id":"2","payload":[]}"#, #"{"type":"complete","id":"1"}"#,
            #"{"type":"ping"}"#, "{", "\"\\ud800\"", "[[[[",
        ]
        for round in 0..<5_000 {
            var machine = ClientConnection()
            _ = machine.socketOpened()
            var open = 0
            for _ in 0..<8 {
                var bytes = Array(pieces.randomElement(using: &random)?.utf8 ?? "".utf8)
                if Bool.random(using: &random), !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                        UInt8.random(in: 0...255, using: &random)
                }
                let (_, asked) = machine.subscribe(Self.request)
                open += 1
                for action in asked + machine.receive(bytes) {
                    switch action {
                    case .failed, .completed, .interrupted: open -= 1
                    default: break
                    }
                }
                #expect(open == machine.operationCount, "seed \(seed), round \(round)")
            }
        }
    }
}
