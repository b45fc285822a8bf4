import Relay
import RelayJSON
import RelayServer
import Testing
import WebSocketTesting

@testable import RelayNetwork

@Suite(.bounded, .timeLimit(.minutes(10)))
struct SecureNetworkTests {
    @Test func aCustomAuthorityIsTrusted() async throws {
        let certificate = try TestCertificate()
        try await ServedTodos.run {
            $0.useTLS(
                certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        } _: { todos in
            var socketOptions = WebSocketNetwork.Options()
            socketOptions.authorityFile = certificate.certificateFile
            let sockets = try WebSocketNetwork(url: todos.url, options: socketOptions)
            #expect(
                try await sockets.responses(to: .texts, variables: [:]).first()["data"] != nil)
            var httpOptions = HTTPNetwork.Options()
            httpOptions.authorityFile = certificate.certificateFile
            let http = try HTTPNetwork(url: todos.httpURL, options: httpOptions)
            #expect(try await http.responses(to: .texts, variables: [:]).first()["data"] != nil)
            #expect(try await http.responses(to: .count, variables: [:]).first()["data"] != nil)
        }
    }

    @Test func anUntrustedServerGetsNothing() async throws {
        let certificate = try TestCertificate()
        try await ServedTodos.run {
            $0.useTLS(
                certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        } _: { todos in
            var options = WebSocketNetwork.Options()
            options.queryAttempts = 1
            let network = try WebSocketNetwork(url: todos.url, options: options)
            let error = await #expect(throws: TransportError.self) {
                try await network.responses(to: .texts, variables: [:]).first()
            }
            #expect(error?.code == .cannotConnect)
        }
    }

    @Test func aMissingAuthorityFileIsReported() async throws {
        var options = WebSocketNetwork.Options()
        options.authorityFile = "/nowhere/ca.pem"
        let network = try WebSocketNetwork(url: "wss://127.0.0.1:1/graphql", options: options)
        let error = await #expect(throws: TransportError.self) {
            try await network.responses(to: .texts, variables: [:]).first()
        }
        #expect(error?.code == .badCredentials)
    }
}
