import Foundation

/// How many rounds a test of crashes takes, and what its choices come from.
///
/// RELAY_CRASH_ROUNDS says how many, RELAY_CRASH_SEED repeats a run: `script/crash` sets them.
struct CrashRounds {
    let count: Int
    let seed: UInt64

    /// Somebody has asked for rounds, and takes the time.
    static let isLong = ProcessInfo.processInfo.environment["RELAY_CRASH_ROUNDS"] != nil

    /// - Parameter otherwise: rounds, where the environment says nothing.
    init(otherwise: Int) {
        let environment = ProcessInfo.processInfo.environment
        count = environment["RELAY_CRASH_ROUNDS"].flatMap { Int($0) } ?? otherwise
        seed = environment["RELAY_CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    }
}
