import GraphQLTransportWS
import RelayJSON
import RelayServer
import Testing
import WebSocketIO

/// Limits that are not of one document.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ServerLimitsTests {
    @Test func aMutationThatFindsNoRoomToWaitIsRefusedAndChangesNothing() async throws {
        try await RunningServer.run({ $0.limits.waitingMutations = 0 }) { server in
            let mutation: JSONObject = [
                "query": #"mutation { addTodo(input: { text: "x" }) { todo { id } } }"#
            ]
            let response = try await server.post(.object(mutation))
            #expect(response.errorCode == "OVERLOADED")
            let result = try await server.request(mutation)
            #expect(result.firstErrorCode == "OVERLOADED")
            let count = try await server.todoCount()
            #expect(count == 2)
        }
    }

    @Test func whoComesWhenAllConnectionsAreTakenIsTold() async throws {
        try await RunningServer.run({ $0.connectionLimits.connections = 1 }) { server in
            let channel = try await server.connect()
            let response = try await server.send("GET", "/healthz")
            #expect(response.status == 503)
            channel.connection.close()
        }
    }

    /// Clients that are told that there are too many have a descriptor each; the log's are not among them.
    @Test(arguments: [131, 200, 256, 1_024, 20_000, 1_048_576])
    func refusedClientsTakeNoneOfTheLogsDescriptors(_ descriptors: Int) {
        let limit = ConnectionLimit(wanted: .max, descriptors: descriptors)
        #expect(limit.connections > 0)
        #expect(limit.refusals > 0)
        #expect(limit.connections + limit.refusals + 128 == descriptors)
        #expect(ConnectionLimit(wanted: 2, descriptors: descriptors).connections == 2)
    }

    @Test func withVeryFewDescriptorsThereIsStillAConnection() {
        #expect(ConnectionLimit(wanted: 20_000, descriptors: 10).connections == 1)
        #expect(ConnectionLimit(wanted: 20_000, descriptors: 0).connections == 20_000)
    }

    @Test func aMessageThatIsTooLargeEndsItsConnection() async throws {
        try await RunningServer.run({ $0.connectionLimits.messageBytes = 1_000 }) { server in
            let channel = try await server.connect()
            let payload: JSONObject = ["filler": .string(String(repeating: "x", count: 1_000))]
            let message = ClientMessage.connectionInit(payload: payload)
            channel.connection.send(OutgoingMessage(.text, message.bytes))
            for await _ in channel {}
            #expect(channel.close?.code == 1_009)
        }
    }

    /// What runs servers in containers kills them ten seconds after it has asked them to stop.
    @Test func aStopEndsBeforeContainersLosePatience() {
        let configuration = Server.Configuration(schema: "", storage: .memory)
        #expect(configuration.stopDeadline < .seconds(10))
    }

    @Test func aCertificateThatCannotBeReadStopsTheStart() async throws {
        let error = await #expect(throws: IOError.self) {
            let identity = HTTPServer.TLSIdentity(
                certificateFile: "/nowhere/cert.pem", keyFile: "/nowhere/key.pem")
            try await RunningServer.run({ $0.tls = identity }) { _ in }
        }
        #expect(error?.code == .badCredentials)
        #expect(error?.message.contains("/nowhere/cert.pem") == true)
    }
}
