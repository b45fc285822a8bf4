import BoundedTesting
package import TerminalUI
package import Testing

extension Pilot {
    /// Waits until the screen is as expected; fails after one generous deadline, with what it is instead.
    package func shows(
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: (String) -> Bool
    ) async {
        let deadline = ContinuousClock.now + .testDeadline
        while !condition(text) {
            if ContinuousClock.now > deadline {
                Issue.record("the screen is:\n\(text)", sourceLocation: sourceLocation)
                return
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Waits until something is on the screen.
    package func shows(
        _ part: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await shows(sourceLocation: sourceLocation) { $0.contains(part) }
    }
}
