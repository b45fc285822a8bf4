import BoundedTesting
import EventStore
import Foundation
import Relay
import RelayJSON
import RelayServer
import Testing

@testable import RelayNetwork

/// Connections that are cut and servers that restart under load: everything happens once, in order, and
/// is told once.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct CutConnectionTests {
    private static let writers = 4
    private static let mutationsInRound = 20

    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "relay-network-\(UUID().uuidString)").path

    @Test func nothingIsLostDoneTwiceOrToldTwice() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let seed = UInt64.random(in: 0...UInt64.max)
        print("cut connections: seed \(seed)")
        try await ServedTodos.run { [directory] in
            $0.storage = .directory(directory, EventStoreOptions())
        } _: { todos in
            let stream = try network(todos.url)
            let told = Noted<String>()
            let listener = Task {
                for try await response in stream.responses(to: .added, variables: [:]) {
                    told.note(response.json.addedText)
                }
            }
            let networks = try (0..<Self.writers).map { _ in try network(todos.url) }
            // Until the first event has come, the stream has no cursor to be resumed by.
            try await eventually {
                _ = try await networks[0].responses(to: .add, variables: ["text": "begin"]).first()
                return !told.all.isEmpty
            }
            let cuts = Noted<Cut>()
            let chaos = Task {
                try await cut(networks + [stream], todos, seed: seed, cuts) { told.all.count }
            }
            defer {
                chaos.cancel()
                listener.cancel()
            }
            // Until enough has been cut, however fast this machine is.
            var written = 0
            repeat {
                try await write(networks, numbers: written..<written + Self.mutationsInRound)
                written += Self.mutationsInRound
            } while !cuts.all.areEnough && written < 2_000
            chaos.cancel()
            try await chaos.value
            #expect(cuts.all.areEnough, "seed \(seed)")

            let texts = try await networks[0].responses(to: .texts, variables: [:]).first().texts
            await eventually {
                told.all.last == texts.last && told.all.count >= Self.writers * written
            }
            for writer in 0..<Self.writers {
                let own = texts.filter { $0.hasPrefix("\(writer):") }
                #expect(own == (0..<written).map { "\(writer):\($0)" }, "seed \(seed)")
            }
            #expect(told.all == Array(texts.suffix(told.all.count)), "seed \(seed)")
            #expect(
                told.all.count { $0 != "begin" } == Self.writers * written, "seed \(seed)")
        }
    }

    private func network(_ url: String) throws -> WebSocketNetwork {
        var options = WebSocketNetwork.Options()
        options.retry = RetryPolicy(
            initialDelay: .milliseconds(2), maximumDelay: .milliseconds(20))
        options.queryAttempts = 1_000
        return try WebSocketNetwork(url: url, options: options)
    }

    /// Each writer hands its mutations over without waiting for answers.
    private func write(_ networks: [WebSocketNetwork], numbers: Range<Int>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (writer, network) in networks.enumerated() {
                let answers = numbers.map { number in
                    network.responses(to: .add, variables: ["text": "\(writer):\(number)"])
                }
                group.addTask {
                    for (number, answer) in zip(numbers, answers) {
                        let response = try await answer.first()
                        let text = response["data"]?["addTodo"]?["todo"]?["text"]?.string
                        #expect(text == "\(writer):\(number)", "\(response.text)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Cuts a connection or restarts the server whenever something has happened.
    private func cut(
        _ networks: [WebSocketNetwork], _ todos: ServedTodos, seed: UInt64, _ cuts: Noted<Cut>,
        progress: () -> Int
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var last = 0
        while !Task.isCancelled {
            let now = progress()
            if now == last {
                await Task.yield()
                continue
            }
            last = now
            if cuts.all.count(.server) < 3, Int.random(in: 0..<10, using: &random) == 0 {
                await todos.stop()
                try await todos.startAgain()
                cuts.note(.server)
            } else {
                networks.randomElement(using: &random)?.reconnect()
                cuts.note(.connection)
            }
        }
    }
}

private enum Cut { case connection, server }

extension [Cut] {
    fileprivate func count(_ kind: Cut) -> Int { count { $0 == kind } }

    fileprivate var areEnough: Bool { count(.connection) > 10 && count(.server) > 0 }
}

extension JSONValue {
    fileprivate var addedText: String {
        self["data"]?["todoAdded"]?["todo"]?["text"]?.string ?? "no text: \(text)"
    }

    fileprivate var texts: [String] {
        (self["data"]?["user"]?["todos"]?["edges"]?.array ?? [])
            .compactMap { $0["node"]?["text"]?.string }
    }
}
