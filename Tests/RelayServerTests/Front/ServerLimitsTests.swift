import GraphQLTransportWS
import HTTPMessages
import RelayJSON
import StoreEngine
import Testing
import WebSocketIO
import WebSocketTesting

@testable import RelayServer

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
        try await RunningServer.run({ $0.limits.connection.connections = 1 }) { server in
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
        try await RunningServer.run({ $0.limits.connection.messageBytes = 1_000 }) { server in
            let channel = try await server.connect()
            let payload: JSONObject = ["filler": .string(String(repeating: "x", count: 1_000))]
            let message = ClientMessage.connectionInit(payload: payload)
            channel.connection.send(OutgoingMessage(.text, message.bytes))
            for await _ in channel {}
            #expect(channel.close?.code == 1_009)
        }
    }

    /// It is read elsewhere, so that the loop goes on; what comes behind it is not read before it.
    @Test func aLongMessageKeepsItsPlaceAmongShortOnes() async throws {
        try await RunningServer.run { server in
            let client = try await GraphQLClient(server)
            let long: JSONObject = [
                "query": "subscription { user { totalCount } }",
                "extensions": ["filler": .string(String(repeating: "x", count: 1_000_000))],
            ]
            for round in 0..<5 {
                client.send(.subscribe(id: "long", payload: long))
                client.send(.complete(id: "long"))
                client.subscribe("long", "{ user { id } }")
                // The subscription may have told its state before it was ended.
                var result = try await client.result()
                if result["data"]?["user"]?["totalCount"] != nil {
                    result = try await client.result()
                }
                #expect(
                    result["data"]?["user"]?["id"]?.string != nil,
                    "round \(round): \(result.text)")
                guard case .complete("long") = try await client.next() else {
                    Issue.record("round \(round): the query is not complete")
                    return
                }
            }
        }
    }

    @Test func whatOperationsKeepIsBoundedInBytes() async throws {
        try await RunningServer.run({ $0.limits.socket.operationBytes = 10_000 }) { server in
            let client = try await GraphQLClient(server)
            let subscription = "subscription { user { totalCount } }"
            let filler = String(repeating: "#", count: 12_000) + "\n"
            // One may have as many bytes as a message.
            client.subscribe("1", filler + subscription)
            #expect(try await client.result()["data"] != nil)
            client.subscribe("2", subscription)
            guard case .error("2", let errors) = try await client.next() else {
                Issue.record("an operation too many has begun")
                return
            }
            #expect(errors.first?["extensions"]?["code"]?.string == "LIMIT_EXCEEDED")
            client.send(.complete(id: "1"))
            client.subscribe("2", subscription)
            #expect(try await client.result()["data"] != nil)
        }
    }

    @Test(arguments: [false, true])
    func aLongMessageThatIsNoSubscribeEndsItsConnection(_ isReady: Bool) async throws {
        try await RunningServer.run { server in
            let channel = try await server.connect()
            if isReady {
                channel.connection.send(
                    OutgoingMessage(.text, ClientMessage.connectionInit(payload: nil).bytes))
            }
            let payload: JSONObject = ["filler": .string(String(repeating: "x", count: 70_000))]
            let message: ClientMessage =
                isReady ? .ping(payload: payload) : .connectionInit(payload: payload)
            channel.connection.send(OutgoingMessage(.text, message.bytes))
            for await _ in channel {}
            #expect(channel.close?.code == 4_400)
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
