import BoundedTesting
import RelayJSON

/// Something that no client should say, or that is at its extreme.
struct HostileMessage {
    enum End {
        /// The connection is acknowledged, the first time, or closed.
        case greeting
        /// The connection is closed, with a code. Nothing is carried out.
        case close
        /// An error, or a result that has errors. Nothing is carried out.
        case refusal
        /// An answer, whatever it says.
        case answer
        /// A stream, which is told first that something was missed.
        case gap
        /// Whatever the server makes of it.
        case anything
    }

    /// In this order, and nothing between them.
    let frames: [[UInt8]]
    let end: End
    /// The id of the operation that it begins.
    var operation: String?
    /// What its mutation is called in the log, by the `clientMutationId` of its input.
    var tag: String?
}

/// Thinks of what a hostile client says: nonsense, and extremes of everything that a message has.
struct HostileSpeech {
    private var random: SeededGenerator
    private var operationCount = 0
    private var mutationCount = 0
    /// The last that the client was sent, to forge others from.
    var cursor = "x-0-0"

    init(_ random: SeededGenerator) { self.random = random }

    static let greeting = HostileMessage(
        frames: [Array(#"{"type":"connection_init"}"#.utf8)], end: .greeting)

    mutating func next() -> HostileMessage {
        switch random.below(32) {
        case 0: HostileMessage(frames: [random.pick(HostileWords.frames)], end: .close)
        case 1: doubled()
        case 2...5: request(random.pick(HostileWords.documents), end: .refusal)
        case 6...8: wrongPage()
        case 9...11: wrongInput()
        case 12...15: wrongExtension()
        case 16...18: extremePage()
        case 19...21: mutation(["mutationId": random.pick(HostileWords.mutationIDs)])
        case 22...23: extremePoint()
        case 24...26: resumption()
        default: spoiled()
        }
    }

    // MARK: Queries

    private static let page = """
        query ($id: ID! = "me", $first: Int, $last: Int, $after: String, $before: String) {
          user(id: $id) {
            todos(first: $first, last: $last, after: $after, before: $before) {
              edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor }
            }
          }
        }
        """

    private mutating func wrongPage() -> HostileMessage {
        let (name, value): (String, JSONValue)
        switch random.below(5) {
        case 0...1: (name, value) = (pick("first", "last"), random.pick(HostileWords.noInt))
        case 2...3:
            (name, value) = (pick("after", "before"), random.pick(HostileWords.wrongCursors))
        default: (name, value) = ("id", random.pick(HostileWords.noText))
        }
        return request(Self.page, [name: value], end: .refusal)
    }

    private mutating func extremePage() -> HostileMessage {
        var variables: JSONObject = [:]
        for name in ["after", "before"] where random.below(3) > 0 {
            variables[name] = random.pick(HostileWords.cursors)
        }
        for name in ["first", "last"] where random.below(3) > 0 {
            variables[name] = random.pick([0, 1, 2, .int(Int64(Int32.max)), .int(-1), .null])
        }
        return request(Self.page, variables, end: .answer)
    }

    private mutating func extremePoint() -> HostileMessage {
        let relay: JSONObject =
            random.below(3) == 0
            ? ["explain": random.pick(HostileWords.sequences)]
            : ["at": random.pick(HostileWords.sequences + HostileWords.times)]
        return request("{ user { totalCount } }", relay: relay, end: .answer)
    }

    // MARK: Mutations

    private static let fields = [
        "addTodo": ("AddTodoInput", "todo { id text }"),
        "renameTodo": ("RenameTodoInput", "todo { id text }"),
        "changeTodoStatus": ("ChangeTodoStatusInput", "user { totalCount }"),
        "removeTodo": ("RemoveTodoInput", "deletedTodoId"),
    ]

    /// One that is as it should be.
    private mutating func mutation(
        _ relay: JSONObject, end: HostileMessage.End = .answer
    ) -> HostileMessage {
        mutationCount += 1
        let tag = "hostile \(mutationCount)"
        let field = random.pick(["addTodo", "addTodo", "renameTodo"])
        var input: JSONObject = ["clientMutationId": .string(tag), "text": .string("by \(tag)")]
        if field == "renameTodo" { input["id"] = random.pick(["VG9kbzow", "Todo:1", "", "me"]) }
        var message = mutate(field, .object(input), relay, end: end)
        message.tag = tag
        return message
    }

    private mutating func mutate(
        _ field: String, _ input: JSONValue?, _ relay: JSONObject, end: HostileMessage.End
    ) -> HostileMessage {
        let (type, selection) = Self.fields[field] ?? ("", "")
        return request(
            "mutation ($input: \(type)!) { \(field)(input: $input) { \(selection) } }",
            input.map { ["input": $0] } ?? [:], relay: relay, end: end)
    }

    private mutating func wrongInput() -> HostileMessage {
        mutationCount += 1
        let tag = "hostile \(mutationCount)"
        var input: JSONObject = ["clientMutationId": .string(tag), "text": "t", "id": "VG9kbzow"]
        let field = pick("addTodo", "renameTodo")
        if field == "addTodo" { input["id"] = nil }
        switch random.below(5) {
        case 0:
            let wrong: [JSONValue] = [.null, [], [:], "x", 5, .raw("1e400")]
            return mutate(field, random.pick(wrong), [:], end: .refusal)
        case 1: return mutate(field, nil, [:], end: .refusal)
        case 2: input["text"] = random.pick(HostileWords.noText)
        case 3: input["clientMutationID"] = .string(tag)
        default: input["complete"] = random.pick([.null, 0, "true", [], .raw("1e400")])
        }
        var message = mutate(field, .object(input), [:], end: .refusal)
        message.tag = tag
        return message
    }

    // MARK: Extensions

    private static let events = "subscription { todoAdded { todo { id } } }"
    private static let live = "subscription { user { totalCount } }"

    private mutating func wrongExtension() -> HostileMessage {
        let noObject: [JSONValue] = [true, "x", [], .raw("1e400")]
        let noFlag: [JSONValue] = [0, 1, "true", [:], .raw("1e400")]
        let sequence = random.pick(HostileWords.wrongSequences)
        let query = "{ user { totalCount } }"
        switch random.below(10) {
        case 0...2:
            return mutation(
                ["mutationId": random.pick(HostileWords.wrongMutationIDs)], end: .refusal)
        case 3: return mutation(["optimisticResponse": random.pick(noObject)], end: .refusal)
        case 4: return mutation([pick("at", "resume"): "1"], end: .refusal)
        case 5: return request(query, relay: ["at": sequence], end: .refusal)
        case 6:
            return request(
                query, relay: ["at": random.pick(HostileWords.wrongTimes)], end: .refusal)
        case 7:
            return request(pick(query, Self.events), relay: ["explain": sequence], end: .refusal)
        case 8:
            let value: JSONValue = random.pick([true, 1, [], [:], .raw("1e400")])
            return request(pick(Self.live, Self.events), relay: ["resume": value], end: .refusal)
        default:
            let name = pick("records", "optimistic")
            return request(Self.live, relay: [name: random.pick(noFlag)], end: .refusal)
        }
    }

    /// A stream is to go on where there is no event, or in another store.
    private mutating func resumption() -> HostileMessage {
        var parts = cursor.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let digits = random.pick([
            "ffffffffffffffff", "7fffffffffffffff", "8000000000000000", "00000000ffffffff",
        ])
        switch random.below(5) {
        case 0...1: parts[parts.count - 1] = digits
        case 2: parts[parts.count / 2] = digits
        case 3: parts[0] = random.pick(["", "x", parts[0] + "0"])
        default:
            let texts = [
                "", "-", "--", "-1", "ffff", cursor + "0", String(cursor.dropLast()), cursor + "-",
            ]
            parts = [random.pick(texts)]
        }
        let text = parts.joined(separator: "-")
        return request(
            pick(Self.live, Self.events), relay: ["resume": .string(text)], end: .gap)
    }

    // MARK: Anything

    /// The id of a stream is that of a mutation, too.
    private mutating func doubled() -> HostileMessage {
        let stream = request(pick(Self.live, Self.events), end: .anything)
        operationCount -= 1
        let mutation = mutation([:])
        return HostileMessage(
            frames: stream.frames + mutation.frames, end: .close, tag: mutation.tag)
    }

    /// What would be right, but that something in it is something else.
    private mutating func spoiled() -> HostileMessage {
        let ordinary: HostileMessage
        switch random.below(6) {
        case 0: ordinary = request(Self.page, ["first": 1], end: .anything)
        case 1:
            ordinary = request(
                pick(Self.live, Self.events), relay: ["records": true, "resume": .string(cursor)],
                end: .anything)
        case 2: ordinary = request("{ user { totalCount } }", relay: ["at": 3], end: .anything)
        default:
            ordinary = mutation(
                ["mutationId": "h:5", "optimisticResponse": ["renameTodo": ["todo": ["id": "x"]]]])
        }
        guard var value = try? JSONValue(parsing: ordinary.frames.joined()) else { return ordinary }
        for _ in 0...random.below(3) { value = spoilPart(of: value) }
        return HostileMessage(
            frames: [Array(value.hostileText.utf8)], end: .anything,
            operation: ordinary.operation, tag: ordinary.tag)
    }

    /// Mostly one that doesn't make it something else than a message.
    private mutating func spoilPart(of message: JSONValue) -> JSONValue {
        guard random.below(8) > 0, var object = message.object,
            var payload = object["payload"]?.object
        else { return spoil(message) }
        let name = pick("variables", "extensions")
        guard var members = payload[name]?.object, let key = members.members.first?.key else {
            return message
        }
        members[key] = spoil(members[key] ?? .null)
        payload[name] = .object(members)
        object["payload"] = .object(payload)
        return .object(object)
    }

    private mutating func spoil(_ value: JSONValue) -> JSONValue {
        if random.below(6) == 0 { return random.pick(HostileWords.values) }
        switch value {
        case .object(var object) where !object.isEmpty:
            let key = random.pick(object.members.map(\.key))
            if random.below(8) == 0 {
                object[key] = nil
            } else {
                object[key] = spoil(object[key] ?? .null)
            }
            return .object(object)
        case .array(var elements) where !elements.isEmpty:
            let index = random.below(elements.count)
            elements[index] = spoil(elements[index])
            return .array(elements)
        default: return random.pick(HostileWords.values)
        }
    }

    // MARK: Parts

    private mutating func pick(_ one: String, _ other: String) -> String {
        random.below(2) == 0 ? one : other
    }

    private mutating func request(
        _ document: String, _ variables: JSONObject = [:], relay: JSONObject = [:],
        end: HostileMessage.End
    ) -> HostileMessage {
        operationCount += 1
        let id = "h\(operationCount)"
        let message: JSONValue = [
            "type": "subscribe", "id": .string(id),
            "payload": [
                "query": .string(document), "variables": .object(variables),
                "extensions": ["relay": .object(relay)],
            ],
        ]
        return HostileMessage(
            frames: [Array(message.hostileText.utf8)], end: message.isUnreadable ? .close : end,
            operation: id)
    }
}
