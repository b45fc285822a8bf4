package import WebSocketIO

/// Randomness and time for a network's delays, and what is measured.
package struct NetworkInputs: Sendable {
    /// From 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// Called with the size of each WebSocket message, on the loop's thread; for measurements.
    package var received: @Sendable (_ bytes: Int) -> Void = { _ in }
    /// Runs something on the loop's thread after a while.
    package var after: @Sendable (IOLoop, Duration, @escaping @Sendable () -> Void) -> Void = {
        $0.perform(after: $1, $2)
    }
    /// How many request timeouts a call of the token provider may take: a person may have to log in.
    package var timeoutsOfPatience = 10

    package init() {}
}
