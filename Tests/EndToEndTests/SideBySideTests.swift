import Foundation
import LoopbackPorts
import RelayJSON
import Testing

/// Two todo clients in terminals, side by side, at a server that is killed.
@Suite(.bounded)
struct SideBySideTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func serve(on port: ReservedPort) async throws -> RunningServer {
        try await RunningServer(
            sandbox.start(
                [
                    "--schema", Sandbox.todoSchema, "--seed", Sandbox.todoSeed, "--data",
                    sandbox.path("data"), "--port", "\(port.number)",
                ], program: Sandbox.program(named: "TodoServer")))
    }

    private func client(_ name: String, of port: ReservedPort) async throws -> Terminal {
        let terminal = try await Terminal(sandbox)
        try await terminal.type("stty -g > \(name)\n")
        try await terminal.type("TodoClient ws://127.0.0.1:\(port.number)/graphql\n")
        return terminal
    }

    private func add(_ text: String, in client: Terminal) async throws {
        try await client.type("a")
        _ = try await client.screen { $0.contains("What is to be done?") }
        try await client.type(text + "\n")
        // The field is empty again, for the next one.
        _ = try await client.screen { $0.contains(text) && $0.contains("What is to be done?") }
        try await client.press("Escape")
        _ = try await client.screen { !$0.contains("What is to be done?") }
    }

    /// The list's rows that have a text, each without its box.
    private static func rows(_ screen: String) -> [String] {
        screen.split(separator: "\n").filter { $0.hasPrefix("☐") || $0.hasPrefix("☑") }
            .map { $0.dropFirst().trimmingCharacters(in: .whitespaces) }
    }

    private static func isLive(_ screen: String) -> Bool {
        screen.contains("\nlive\n") && !screen.contains("wait")
    }

    @Test(.enabled(if: ReservedPort.letsServersIn))
    func clientsOutliveTheirServerAndNothingIsLostOrDoneTwice() async throws {
        let port = try ReservedPort()
        var server = try await serve(on: port)
        let clients = [try await client("one", of: port), try await client("two", of: port)]
        for client in clients {
            _ = try await client.screen { $0.contains("☐ Buy a unicorn") && Self.isLive($0) }
        }
        try await add("Feed it", in: clients[0])
        _ = try await clients[1].screen { $0.contains("☐ Feed it") }

        try await server.kill()
        for client in clients {
            _ = try await client.screen {
                $0.contains("\noffline") || $0.contains("reconnecting")
            }
        }
        try await add("Ride it", in: clients[0])
        let waiting = try await clients[0].screen { $0.contains("1 change waits for the server") }
        #expect(Self.rows(waiting).last?.wholeMatch(of: /Ride it.*…/) != nil, "\(waiting)")

        server = try await serve(on: port)
        let texts = ["Taste JavaScript", "Buy a unicorn", "Feed it", "Ride it"]
        for client in clients {
            _ = try await client.screen { Self.isLive($0) && Self.rows($0) == texts }
        }
        // What comes after it comes to both: nobody has missed anything.
        try await add("Sell it", in: clients[1])
        for client in clients {
            _ = try await client.screen {
                Self.isLive($0) && Self.rows($0) == texts + ["Sell it"]
            }
        }
        #expect(try await server.data("{ user { totalCount } }") == ["user": ["totalCount": 5]])

        try await clients[0].press("C-c")
        try await clients[1].type("q")
        for (client, name) in zip(clients, ["one", "two"]) {
            _ = try await client.screen { $0.hasSuffix("\n$") }
            try await client.type("stty -g | cmp \(name) - && echo as it was\n")
            _ = try await client.screen { $0.hasSuffix("\nas it was\n$") }
            #expect(try await client.fact("alternate_on") == "0")
            #expect(try await client.fact("cursor_flag") == "1")
        }
        #expect(try await server.stop() == .code(0))
        let kinds = try await sandbox.events().compactMap { $0["kind"]?.string }
        #expect(kinds.count { $0 == "mutation" } == 3, "\(kinds)")
    }
}
