/// A link's limits, and what it does when they are reached.
package struct LinkOptions: Sendable {
    package var retry = RetryPolicy()
    /// Consecutive connections that may fail before queries fail; other kinds keep waiting.
    package var queryAttempts = 5
    /// Concurrent operations, including those that wait; further ones fail.
    package var maximumOperations = 10_000
    /// Mutations in flight. 1: they are carried out one after another, in the order in which they
    /// were requested.
    package var maximumMutationsInFlight = 1
    /// Whether a mutation that may have reached the server is sent again, by its id. If not, it fails.
    package var resendsMutations = true
    /// Connections that may end while the server has a mutation without having answered it; then the
    /// mutation is given up. nil: no limit.
    package var maximumInterruptions: UInt64? = 10
    /// Time limit for each step of connecting, and for the answer to a ping.
    package var connectTimeout: Duration = .seconds(10)
    /// How long a connection may be idle before it is closed; nil: forever.
    package var idleTimeout: Duration? = .seconds(60)
    /// There is a token provider.
    package var asksForTokens = false
    /// How long the link has a connection.
    package var lifetime = Lifetime.whileNeeded

    package enum Lifetime: Sendable {
        /// As long as an operation needs it.
        case whileNeeded
        /// As long as the program runs, whether an operation needs it or not: a person looks at its state. It is made
        /// again however the last one has ended.
        case whileRunning
        /// The same for a program that ends with it. Its first connection is made at once or never, with the program's
        /// token; a server that says goodbye (1001) ends it, as does anything that a retry would not fix; and its end
        /// is reported.
        case session
    }

    package init() {}
}
