/// What bounds a link, and what it does at the bounds.
package struct LinkOptions: Sendable {
    package var retry = RetryPolicy()
    /// Connections in a row that may come to nothing before queries fail; other kinds go on waiting.
    package var queryAttempts = 5
    /// Operations at a time, those that wait included; further ones fail.
    package var maximumOperations = 10_000
    /// Mutations that the server has and has not answered. 1: they are carried out in the order in
    /// which they were asked for, one after the other.
    package var maximumMutationsInFlight = 1
    /// A mutation that may have reached the server is sent again, by its id. If not, it fails.
    package var resendsMutations = true
    /// Connections that may end while the server has a mutation and has not answered it; then the mutation
    /// is given up. nil: no limit.
    package var maximumInterruptions: UInt64? = 10
    /// Time for each step to a connection, and for the answer to a ping.
    package var connectTimeout: Duration = .seconds(10)
    /// A connection that was idle for so long is closed; nil: never.
    package var idleTimeout: Duration? = .seconds(60)
    /// There is a token provider.
    package var asksForTokens = false
    /// A person waits at a program for what comes over the link, so it is there as long as the program is, whether an
    /// operation needs it or not. Its first connection is made at once or never, with the token that the program was
    /// given; a server that says goodbye (1001) ends it, as does what another try would not mend; and its end is told.
    package var isSession = false

    package init() {}
}
