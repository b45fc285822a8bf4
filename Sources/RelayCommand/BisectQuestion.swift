import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

/// What a bisect asks of each state that it looks at.
protocol BisectQuestion {
    /// Does a search, which asks of states whether it is so; nil is the answer of which nothing can be told.
    func ask<Result>(
        about history: History, _ search: ((Snapshot) throws -> Bool?) throws -> Result
    ) throws -> Result

    /// An event that changes no record may have another answer than the one before.
    var seesEveryEvent: Bool { get }

    /// That it is so, or is not so.
    func sentence(_ isSo: Bool) -> String
}

/// Does the query give this data?
struct ExpectedData: BisectQuestion {
    private let request: GraphQLRequest
    private let expected: JSONValue
    let seesEveryEvent = false

    init(_ request: GraphQLRequest, _ expected: JSONValue) {
        self.request = request
        self.expected = expected
    }

    func ask<Result>(
        about history: History, _ search: ((Snapshot) throws -> Bool?) throws -> Result
    ) throws -> Result {
        var refusal: String?
        var isAnswered = false
        let result = try search { state in
            let response = try JSONValue(parsing: PastService(state).answer(request).bytes)
            if response["data"] == nil {
                refusal = response["errors"]?.array?.first?["message"]?.string
            } else {
                isAnswered = true
            }
            return response["data"] ?? .null == expected
        }
        // A query that every schema refuses is a mistake, not an answer.
        if !isAnswered, let refusal {
            throw CommandFailure("The query was refused. \(refusal)")
        }
        return result
    }

    func sentence(_ isSo: Bool) -> String {
        "the query \(isSo ? "still gives" : "does not give") \(expected.text)"
    }
}

/// Does the command fail?
struct BisectTrial: BisectQuestion {
    private let command: TrialCommand
    private let request: GraphQLRequest?

    init(_ command: TrialCommand, _ request: GraphQLRequest?) {
        self.command = command
        self.request = request
    }

    func ask<Result>(
        about history: History, _ search: ((Snapshot) throws -> Bool?) throws -> Result
    ) throws -> Result {
        try Workspace.with { workspace in
            try search { state in
                switch try run(on: state, of: history, in: workspace) {
                case .good: false
                case .bad: true
                case .cannotTell: nil
                }
            }
        }
    }

    private func run(
        on state: Snapshot, of history: History, in workspace: Workspace
    ) throws -> TrialCommand.Verdict {
        var directory: String?
        if command.wantsDirectory {
            let path = "\(workspace.path)/log-\(state.sequence)"
            try history.fork(at: state.sequence, to: path)
            directory = path
        }
        defer { directory.map(workspace.remove) }
        return try command.run(
            directory: directory, input: try workspace.write(input(of: state), to: "state.json"),
            environment: ["RELAY_SEQUENCE": "\(state.sequence)"])
    }

    private func input(of state: Snapshot) throws -> [UInt8] {
        if let request { return try PastService(state).answer(request).bytes + [0x0A] }
        return state.recordLines.flatMap { Array($0.utf8) + [0x0A] }
    }

    var seesEveryEvent: Bool { command.wantsDirectory }

    func sentence(_ isSo: Bool) -> String { "the command \(isSo ? "fails" : "succeeds")" }
}
