import GraphQLExecution
import RelayJSON
import StoreEngine

/// What was promised to somebody.
struct Facts {
    /// The last event that anybody was told of.
    var told: UInt64 = 0
    /// In this life of the server.
    private(set) var started: [GraphQLRequest] = []
    /// Mutations whose answers have arrived, and when.
    var acknowledged: [String: UInt64] = [:]
    var answers: [String: [UInt8]] = [:]
    /// Mutations that were refused, by an error that says that nothing was changed.
    var refused: Set<String> = []
    /// How often each mutation was handed to a server, in whatever life.
    private(set) var startCounts: [String: Int] = [:]
    /// Mutations that may be carried out behind later ones: a refusal is not remembered, so that one that was refused and
    /// is sent again, by its client or beside it, is a new one.
    var outOfOrder: Set<String> = []
    /// Of this life of the server: the same mutations sent again beside their clients, and their answers.
    var repeatCount = 0
    var repeatAnswerCount = 0
    /// Since the last start.
    var lostPowerAt: UInt64?
    /// In any life.
    private(set) var hasLostPower = false

    mutating func start(_ request: GraphQLRequest) {
        started.append(request)
        if let name = request.mutationName { startCounts[name, default: 0] += 1 }
    }

    /// Those that were refused and not sent again.
    var refusedForGood: [String] { refused.filter { startCounts[$0, default: 0] <= 1 }.sorted() }

    mutating func endLife() {
        started = []
        (repeatCount, repeatAnswerCount) = (0, 0)
    }

    /// - Parameter time: when a server last ran: one that was killed before syncs nothing until the power goes.
    mutating func losePower(at time: UInt64) {
        lostPowerAt = lostPowerAt ?? time
        hasLostPower = true
    }
}

extension GraphQLRequest {
    /// What it calls its mutation, if it does. The same id of another viewer's means another mutation.
    var mutationName: String? {
        let id = extensions["relay"]?["mutationId"]?.string
        return id.map { Facts.name($0, of: identity.viewerID) }
    }
}

extension Facts {
    static func name(_ id: String, of viewer: String?) -> String {
        viewer.map { "\($0)/\(id)" } ?? id
    }
}
