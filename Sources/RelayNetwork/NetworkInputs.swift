import WebSocketIO

/// Chance and time, as a network needs them for its delays.
struct NetworkInputs: Sendable {
    /// From 0 to 1.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// Runs something on the loop's thread after a while.
    var after: @Sendable (IOLoop, Duration, @escaping @Sendable () -> Void) -> Void = {
        $0.perform(after: $1, $2)
    }
}
