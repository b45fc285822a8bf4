import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import RelayServer
@testable import StoreEngine

// How zoe looks, by kind of way.

extension AccessMatrixWay {
    // MARK: Answers

    func query(_ selection: String, _ world: AccessMatrixWorld) throws -> Look {
        let engine = try world.engine
        return { try await engine.run("{ \(selection) }", as: AccessMatrixWorld.zoe).text }
    }

    func mutation(_ selection: String, _ world: AccessMatrixWorld) throws -> Look {
        let engine = try world.engine
        return { try await engine.run("mutation { \(selection) }", as: AccessMatrixWorld.zoe).text }
    }

    /// The cursor of the first document is one of zoe's own.
    func pageAfter(_ world: AccessMatrixWorld) throws -> Look {
        let engine = try world.engine
        return {
            let first = try await engine.run(
                "{ docs(first: 1) { edges { cursor } } }", as: AccessMatrixWorld.zoe)
            let cursor = first["data"]?["docs"]?["edges"]?.array?.first?["cursor"]?.string
            return try await engine.run(
                "{ docs(first: 1, after: \"\(try #require(cursor))\") { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } }",
                as: AccessMatrixWorld.zoe
            ).text
        }
    }

    func persisted(_ world: AccessMatrixWorld) throws -> Look {
        let engine = try world.engine
        let text = "{ everyDoc { title } }"
        return {
            _ = try await engine.run(text)
            var request = GraphQLRequest(query: text, identity: AccessMatrixWorld.zoe)
            request.extensions = [:]
            let prepared = try #require(engine.service.findPrepared(request))
            let outcome = try await answer("an answer") {
                engine.service.execute(prepared, request, answer: $0)
            }
            return String(decoding: outcome.response.bytes, as: UTF8.self)
        }
    }

    /// The state when this is called.
    func past(_ world: AccessMatrixWorld) async throws -> Look {
        let engine = try world.engine
        let sequence = engine.service.snapshot.sequence
        // A log that is read has more in it than what is in memory.
        for text in ["later", "last"] {
            try await world.change(
                #"updateDoc(input: { id: "d1", body: "\#(text)" }) { doc { id } }"#)
        }
        try await engine.everyPublication()
        let point: JSONObject = ["at": .int(Int64(sequence))]
        return {
            try await engine.run(
                #"{ everyDoc { id title } note(id: "n") { doc { body } } space(id: "t") { docCount } }"#,
                as: AccessMatrixWorld.zoe, relay: point
            ).text
        }
    }

    func repeated(_ world: AccessMatrixWorld) async throws -> Look {
        let engine = try world.engine
        return {
            try await engine.run(
                #"mutation { updateNote(input: { id: "n", text: "m" }) { note { doc { title } } } }"#,
                mutationID: "c:1", as: AccessMatrixWorld.zoe
            ).text
        }
    }

    /// Somebody who sees the document has used the same mutation id.
    func answerOfAnother(_ world: AccessMatrixWorld) async throws -> Look {
        let engine = try world.engine
        let text =
            #"mutation { updateNote(input: { id: "n", text: "m" }) { note { doc { title } } } }"#
        for identity in [.unrestricted, Identity("amy")] {
            _ = try await engine.run(text, mutationID: "c:1", as: identity)
        }
        return try await repeated(world)
    }

    // MARK: Streams

    /// What a stream says, beside those of others who ask the same and see the document.
    func stream(
        _ text: String, _ world: AccessMatrixWorld, _ relay: JSONObject = [:]
    ) async throws -> Look {
        let engine = try world.engine
        for other in [.unrestricted, Identity("amy")] {
            _ = try engine.subscribe(text, as: other, relay: relay)
        }
        let sink = try engine.subscribe(text, as: AccessMatrixWorld.zoe, relay: relay)
        try await eventually("three subscriptions") {
            engine.service.subscriptionCounts.subscriptions == 3 ? true : nil
        }
        var seen = 0
        return {
            try await happen(world)
            try await engine.everyPublication()
            let results = engine.resultsSoFar(of: sink)
            defer { seen = results.count }
            return results[seen...].map(\.text).joined(separator: "\n")
        }
    }

    /// What happened since this was called.
    func resumed(_ world: AccessMatrixWorld) async throws -> Look {
        let engine = try world.engine
        let cursor = engine.cursor(engine.service.snapshot.sequence)
        // More than the publisher itself would catch up on.
        for number in 0..<40 {
            try await world.touch("\(number)")
            try await world.change(
                #"updateNote(input: { id: "n", text: "\#(number)" }) { note { id } }"#)
        }
        try await engine.everyPublication()
        return {
            var texts: [String] = []
            for (text, mark) in [
                ("subscription { docChanged { doc { id title body } } }", "docChanged"),
                ("subscription { noteChanged { note { text doc { title } } } }", "noteChanged"),
            ] {
                let sinks = try [.unrestricted, AccessMatrixWorld.zoe].map {
                    try engine.subscribe(text, as: $0, relay: ["resume": .string(cursor)])
                }
                let results = try await eventually("the end of what was missed") {
                    let results = engine.resultsSoFar(of: sinks[1])
                    let last = results.last?["data"]?[mark]
                    let body = last?["doc"]?["body"] ?? last?["note"]?["text"]
                    return body == "39" ? results : nil
                }
                texts += results.map(\.text)
            }
            return texts.joined(separator: "\n")
        }
    }

    /// As server-sent events.
    func eventStream(_ world: AccessMatrixWorld) async throws -> Look {
        guard case .server(let server) = world.host else { throw TestFailure("no sockets") }
        let client = try RawClient(port: server.server.port)
        let body = JSONValue.object([
            "query": "query @live { everyDoc { id title body } }"
        ]).text
        try client.send(
            """
            POST /graphql HTTP/1.1\r
            Host: localhost\r
            Accept: text/event-stream\r
            Authorization: Bearer zoe-token\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """)
        _ = try await client.read(through: "\r\n\r\n")
        var count = 0
        var pending = try await client.read(through: "\n\n")
        return {
            count += 1
            let mark = "mark-\(count)"
            try await happen(world)
            try await world.change(
                #"updateDoc(input: { id: "d1", body: "\#(mark)" }) { doc { id } }"#)
            var texts = [pending]
            pending = ""
            while !(texts.last ?? "").contains(mark) {
                texts.append(try await client.read(through: "\n\n"))
            }
            // How many results lie between two states depends on how fast they are taken.
            return [texts.first, texts.last].compactMap { $0 }.joined()
        }
    }
}
