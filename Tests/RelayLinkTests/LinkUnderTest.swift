import GraphQLTransportWS
import RelayArtifacts
import WebSocketIO

@testable import RelayLink

/// A ``LinkMachine``, driven and asked in words.
struct LinkUnderTest {
    var machine: LinkMachine
    private var lastID: UInt64 = 0

    init(_ change: (inout LinkOptions) -> Void = { _ in }) {
        var options = LinkOptions()
        options.idleTimeout = nil
        change(&options)
        machine = LinkMachine(options)
    }

    /// A link whose first connection is acknowledged, with these operations sent.
    static func connected(
        _ operations: String..., change: (inout LinkOptions) -> Void = { _ in }
    ) -> LinkUnderTest {
        var link = LinkUnderTest(change)
        for operation in operations { _ = link.begin(operation) }
        if operations.isEmpty { _ = link.machine.connect() }
        _ = link.open()
        return link
    }

    // MARK: What happens

    /// Begins an operation: "query q", "mutation m", "subscription s"; "live q" is a query with `@live`, and the text of
    /// "persisted q" only the server has.
    mutating func begin(
        _ words: String, asksForRecords: Bool = false, interruptionCount: UInt64 = 0,
        isUnfinished: Bool = false, named: Bool = true
    ) -> [String] {
        lastID += 1
        return texts(
            machine.begin(
                OperationID(number: lastID), Self.request(words, lastID, named),
                asksForRecords: asksForRecords, interruptionCount: interruptionCount,
                isUnfinished: isUnfinished))
    }

    private static func request(
        _ words: String, _ number: UInt64, _ named: Bool
    ) -> OperationRequest {
        let parts = words.split(separator: " ").map(String.init)
        var parameters = RequestParameters(
            name: parts[1], operationKind: OperationKind(rawValue: parts[0]) ?? .query,
            text: parts[1])
        if parts[0] == "live" { parameters.text = parts[1] + " @live" }
        if parts[0] == "persisted" { (parameters.text, parameters.id) = (nil, parts[1]) }
        return OperationRequest(parameters, variables: [:], mutationID: named ? "c:\(number)" : nil)
    }

    /// The socket opens and the server lets us in.
    mutating func open(token: String? = nil) -> [String] {
        let opened = machine.socketOpened(machine.attempt, token: token) ?? []
        return texts(opened) + receive(#"{"type":"connection_ack"}"#)
    }

    mutating func receive(_ message: String) -> [String] {
        texts(machine.received(machine.attempt, Array(message.utf8)))
    }

    /// A response for the operation that has this number on the connection.
    mutating func next(
        _ wire: Int, _ data: String = #"{"a":1}"#, relay: String? = nil
    ) -> [String] {
        let notes = relay.map { #","extensions":{"relay":"# + $0 + "}" } ?? ""
        return receive(#"{"type":"next","id":"\#(wire)","payload":{"data":\#(data)\#(notes)}}"#)
    }

    /// The server ends the operation that has this number on the connection, with an error.
    mutating func refuse(_ wire: Int, _ code: String) -> [String] {
        receive(Self.error(wire, code))
    }

    static func error(_ wire: Int, _ code: String) -> String {
        let errors = #"[{"message":"no","extensions":{"code":"\#(code)"}}]"#
        return #"{"type":"error","id":"\#(wire)","payload":\#(errors)}"#
    }

    mutating func complete(_ wire: Int) -> [String] {
        receive(#"{"type":"complete","id":"\#(wire)"}"#)
    }

    mutating func close(_ code: UInt16, isFromPeer: Bool = true) -> [String] {
        texts(
            machine.socketClosed(
                machine.attempt,
                ConnectionLoss(.init(code: code, isFromPeer: isFromPeer), of: Self.address)))
    }

    mutating func fail(_ error: IOFailure) -> [String] {
        texts(machine.socketClosed(machine.attempt, ConnectionLoss(error.error)))
    }

    mutating func retry() -> [String] { texts(machine.timerFired(.retry(machine.attempt))) }

    mutating func authorized(_ token: String?) -> [String] {
        texts(machine.authorized(machine.attempt, .success(token)))
    }

    /// There is nobody who can give a token now.
    mutating func lackToken() -> [String] {
        struct Offline: Error {}
        return texts(machine.authorized(machine.attempt, .failure(Offline())))
    }

    mutating func perform(_ input: (inout LinkMachine) -> [LinkAction]) -> [String] {
        texts(input(&machine))
    }

    // MARK: What is to be done

    private func texts(_ actions: [LinkAction]) -> [String] {
        actions.map { action in
            switch action {
            case .authorize(_, let isRefused): isRefused ? "authorize anew" : "authorize"
            case .connect(_, let token): token.map { "connect as \($0)" } ?? "connect"
            case .send(let bytes): "send " + String(decoding: bytes, as: UTF8.self)
            case .close(let code): "close \(code.code)"
            case .abort: "abort"
            case .schedule(.acknowledgement, _): "watch acknowledgement"
            case .schedule(.retry, _): "schedule retry"
            case .schedule(.token, _): "watch token"
            case .schedule(.pong, _): "watch pong"
            case .schedule(.resumption(let id), _): "schedule resumption \(id.number)"
            case .resumeLater(let id, let endings): "resume \(id.number) after ending \(endings)"
            case .schedule(.idle, _): "watch idleness"
            case .retry(_, let failures): "retry after failure \(failures)"
            case .deliver(let id, let bytes):
                "deliver \(id.number) " + String(decoding: bytes, as: UTF8.self)
            case .interrupted(let id): "interrupted \(id.number)"
            case .finish(let id, nil): "finish \(id.number)"
            case .finish(let id, let error?): "fail \(id.number) \(error.code)"
            case .report(.disconnected(let error)): "disconnected \(error.code)"
            case .report(let event): "\(event)"
            case .ended(let error): "ended \(error.code)"
            }
        }
    }
}
