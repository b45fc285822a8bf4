import Testing

/// Waits until `condition` holds; fails after a minute.
func eventually(
    within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
        if ContinuousClock.now > deadline {
            Issue.record("it did not come true in time", sourceLocation: sourceLocation)
            return
        }
        try? await Task.sleep(for: .milliseconds(1))
    }
}
