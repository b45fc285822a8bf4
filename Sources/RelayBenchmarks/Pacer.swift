import WebSocketIO

/// Does something at a steady rate on a loop's thread, and catches up when it was late.
struct Pacer: Sendable {
    private let rate: Double
    private let start = ContinuousClock.now
    private let end: ContinuousClock.Instant
    private let loop: IOLoop
    private let action: @Sendable () -> Void

    static func run(
        rate: Double, until end: ContinuousClock.Instant, on loop: IOLoop,
        _ action: @escaping @Sendable () -> Void
    ) {
        let pacer = Pacer(rate: rate, end: end, loop: loop, action: action)
        loop.perform { pacer.turn(done: 0) }
    }

    private init(
        rate: Double, end: ContinuousClock.Instant, loop: IOLoop,
        action: @escaping @Sendable () -> Void
    ) {
        self.rate = rate
        self.end = end
        self.loop = loop
        self.action = action
    }

    private func turn(done: Int) {
        let now = ContinuousClock.now
        if now >= end { return }
        let due = Int((now - start) / .seconds(1) * rate) + 1
        for _ in done..<max(done, due) { action() }
        let next = start + .seconds(Double(due) / rate)
        loop.perform(after: max(.milliseconds(1), next - .now)) { self.turn(done: due) }
    }
}
