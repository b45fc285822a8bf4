import BoundedTesting
import Testing

/// Waits until `condition` holds; fails after one generous deadline.
func eventually(
    within limit: Duration = .testDeadline, sourceLocation: SourceLocation = #_sourceLocation,
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
