import Dispatch
import Foundation
import Synchronization

/// SIGTERM and SIGINT, as something to wait for.
final class StopSignals {
    private let stream: AsyncStream<String>
    private let sources: [any DispatchSourceSignal]

    /// From now on the signals no longer end the process.
    init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        sources = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")].map { number, name in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield(name) }
            source.resume()
            return source
        }
    }

    /// Waits for the next one and gives its name.
    func first() async -> String {
        for await name in stream { return name }
        return "cancellation"
    }
}

/// SIGTERM and SIGINT, as something to look at now and then.
final class StopFlag: Sendable {
    private let isRaised = Atomic(false)

    /// From now on the signals no longer end the process.
    init() {
        let signals = StopSignals()
        Task { [self] in
            _ = await signals.first()
            isRaised.store(true, ordering: .relaxed)
        }
    }

    var isSet: Bool { isRaised.load(ordering: .relaxed) }
}
