import BoundedTesting

/// Asks again and again until there is an answer: for what tells nobody when it changes.
/// - Parameters:
///   - what: completes "Waited in vain for …".
///   - limit: how long it may take.
func eventually<Answer>(
    _ what: String, within limit: Duration = .testDeadline, _ ask: () async throws -> Answer?
) async throws -> Answer {
    let deadline = ContinuousClock.now + limit
    while true {
        if let answer = try await ask() { return answer }
        guard ContinuousClock.now < deadline else {
            throw Failure("Waited \(limit) in vain for \(what).")
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}
