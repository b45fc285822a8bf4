import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords

/// What folding the log again says about its checkpoints, and about its end.
struct CheckpointFindings {
    private let checks: [CheckpointCheck]
    private let stateHash: StateHash
    private let last: UInt64

    init(_ history: History) throws {
        var checks: [CheckpointCheck] = []
        try history.checkCheckpoints { check in
            checks.append(check)
            return true
        }
        self.checks = checks
        last = history.last
        stateHash = try history.snapshot(at: last).stateHash
    }

    /// The first thing that is not as it should be.
    var fault: String? {
        checks.lazy.compactMap { check -> String? in
            switch check.outcome {
            case .right, .beginning, .otherVersion: nil
            case .differs, .unreadable: "checkpoint \(check.sequence) \(check.outcome.sentence)."
            }
        }.first
    }

    var json: JSONObject {
        [
            "checkpoints": .array(
                checks.map {
                    [
                        "sequence": JSONValue($0.sequence),
                        "outcome": .string($0.outcome.word),
                    ]
                }),
            "stateHash": .string("\(stateHash)"),
        ]
    }

    var lines: [String] {
        checks.map { "checkpoint \($0.sequence)  \($0.outcome.sentence)" }
            + ["state   \(stateHash)  after event \(last)"]
    }
}

extension CheckpointCheck.Outcome {
    fileprivate var word: String {
        switch self {
        case .right: "right"
        case .beginning: "beginning"
        case .differs: "differs"
        case .otherVersion: "otherVersion"
        case .unreadable: "unreadable"
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .right: "is the state that the events lead to"
        case .beginning: "is where the log begins: the events before it are gone"
        case .differs(let recorded, let refolded):
            "differs: it holds state \(recorded), the events lead to \(refolded)"
        case .otherVersion: "was made by another version, and is not read"
        case .unreadable(let reason): "cannot be read: \(reason)"
        }
    }
}
