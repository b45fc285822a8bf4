extension Duration {
    /// How long tests wait for a condition that comes within milliseconds on a quiet machine: long enough for one that
    /// builds something else on every processor, and shorter than the time limit of a suite.
    package static let testDeadline = Duration.seconds(240)
}

extension Int {
    /// ``Swift/Duration/testDeadline``, for what waits by milliseconds.
    package static let testDeadlineMilliseconds = 240_000
}
