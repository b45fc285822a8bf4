import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

/// What a bisect asks of each state that it looks at.
protocol BisectQuestion {
    /// Runs a search, which asks whether states match; nil means that a state cannot be judged. A state may
    /// be given look-ups; those that are folded from it keep them.
    func ask<Result>(
        about history: History, _ search: ((inout Snapshot) throws -> Bool?) throws -> Result
    ) throws -> Result

    /// An event that changes no record may have a different answer from the one before.
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
        about history: History, _ search: ((inout Snapshot) throws -> Bool?) throws -> Result
    ) throws -> Result {
        var refusal: String?
        var isAnswered = false
        var answers = PastAnswers(request)
        let result = try search { state in
            let response = try JSONValue(parsing: answers.next(&state).bytes)
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

extension TrialCommand.Verdict {
    /// Nil if it cannot be judged.
    fileprivate var isBad: Bool? {
        switch self {
        case .good: false
        case .bad: true
        case .cannotTell: nil
        }
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
        about history: History, _ search: ((inout Snapshot) throws -> Bool?) throws -> Result
    ) throws -> Result {
        var answers = request.map(PastAnswers.init)
        return try Workspace.with { workspace in
            try search { state in
                let answer = try answers?.next(&state).bytes
                let input = answer.map { $0 + [0x0A] } ?? lines(of: state)
                let verdict = try run(on: state, input, of: history, in: workspace)
                return verdict.isBad
            }
        }
    }

    private func run(
        on state: Snapshot, _ input: [UInt8], of history: History, in workspace: Workspace
    ) throws -> TrialCommand.Verdict {
        var directory: String?
        if command.wantsDirectory {
            let path = "\(workspace.path)/log-\(state.sequence)"
            try history.fork(at: state.sequence, to: path)
            directory = path
        }
        defer { directory.map(workspace.remove) }
        return try command.run(
            directory: directory, input: try workspace.write(input, to: "state.json"),
            environment: ["RELAY_SEQUENCE": "\(state.sequence)"])
    }

    private func lines(of state: Snapshot) -> [UInt8] {
        state.recordLines.flatMap { Array($0.utf8) + [0x0A] }
    }

    var seesEveryEvent: Bool { command.wantsDirectory }

    func sentence(_ isSo: Bool) -> String { "the command \(isSo ? "fails" : "succeeds")" }
}
