import GraphQLExecution

@testable import RelayServer

/// What was promised to somebody.
struct Facts {
    /// The last event that anybody was told of.
    var told: UInt64 = 0
    /// In this life of the server.
    var started: [GraphQLRequest] = []
    /// Mutations whose answers have arrived, and when.
    var acknowledged: [String: UInt64] = [:]
    var answers: [String: [UInt8]] = [:]
    var refused: Set<String> = []
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
