import BoundedTesting
import Foundation
import RelayTerminal
import Testing

/// Waits until `condition` holds; fails after one generous deadline.
@MainActor func eventually(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + .testDeadline
    while try !condition() {
        if ContinuousClock.now > deadline {
            Issue.record("it did not come true in time", sourceLocation: sourceLocation)
            return
        }
        try? await Task.sleep(for: .milliseconds(1))
    }
}

extension Pilot {
    /// Waits until the screen shows something; fails after one generous deadline.
    func shows(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        await shows(sourceLocation: sourceLocation) { $0 == text }
    }

    func shows(
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: (String) -> Bool
    ) async {
        await eventually(sourceLocation: sourceLocation) { condition(self.text) }
        if !condition(text) {
            Issue.record("the screen is:\n\(text)", sourceLocation: sourceLocation)
        }
    }
}

extension MockNetwork.Request {
    func resolve(_ json: String) { resolve(Data(json.utf8)) }
}

extension MockEnvironment {
    /// Everything that waits for an answer.
    var waitingNames: [String] { mockNetwork.requests.map(\.parameters.name) }
}
