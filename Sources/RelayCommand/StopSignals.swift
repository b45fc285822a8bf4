import Dispatch
import Foundation

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
