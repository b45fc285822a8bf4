package import WebSocketIO

/// Chance and time, as a network needs them for its delays, and what is measured of it.
package struct NetworkInputs: Sendable {
    /// From 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// Told the size of each message of a WebSocket, on the loop's thread; for measurements.
    package var received: @Sendable (_ bytes: Int) -> Void = { _ in }
    /// Runs something on the loop's thread after a while.
    package var after: @Sendable (IOLoop, Duration, @escaping @Sendable () -> Void) -> Void = {
        $0.perform(after: $1, $2)
    }
    /// A call of the provider of tokens may take as long as so many requests wait for it, one after the other: a person
    /// may have to log in.
    package var timeoutsOfPatience = 10

    package init() {}
}
