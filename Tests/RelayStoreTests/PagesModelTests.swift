import BoundedTesting
import RelayArtifacts
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Connections whose pages are streamed and deferred, at random, against a model that knows no parts.
///
/// Four connections of one user: three page forwards, one backwards. Two of them have other keys over one field with the same
/// arguments, so they share their pages' records; the others have servers of their own. In between edges are appended and taken
/// out, and in half of the rounds moved. What is claimed:
///
/// - `wholePages`: pages begin one behind the other, the next one also while those before it still stream; the first page is
///   fetched anew when nothing is under way. In the end the server's edges, their order, the local additions, the end cursor
///   and whether more follows are those that the same responses give which come whole, each when the streamed one begins.
///   An addition stands among the same additions; which of the edges that come later it stands before is not claimed.
/// - `cutPages`: the first page is fetched anew at any time, pages of two sizes begin behind one cursor, the same page is
///   asked for again while it streams and later, answers whose pageInfo is still to come break off (forwards), the server's
///   list changes. Whenever no page that told its pageInfo before its edges is under way (backwards: whenever nothing is), no
///   node is there twice, the first edge is the first of some first page, and each other one is what some response had behind
///   the one before it, but for what was taken out of the connection, or moved. When nothing is under way, the end cursor and
///   whether more follows are what one response said together, or the cursor where a page broke off, behind which more
///   follows. That end is the last edge's, but for what was taken out; where something broke off or was overtaken since the
///   first page, it may be one before. Then the pages that are left are loaded one by one, which ends, and all of it holds
///   again.
///
/// Not claimed: an answer that breaks off after its pageInfo and before its edges, backward pages that break off,
/// additions that the server has in its list, too, and where edges come to stand after others were moved if their page still
/// streams then, or the edge by whose cursor it is asked for has been moved or taken out.
@Suite(.bounded) struct PagesModelTests {
    @Test func wholePages() async {
        await ModelRounds.run { try PagesRound(seed: $0, mayCut: false, hasTwins: true).run() }
    }

    @Test func cutPages() async {
        await ModelRounds.run { try PagesRound(seed: $0, mayCut: true, hasTwins: true).run() }
    }

    /// Rounds that have failed once. While a page is fetched again, its record has the beginning of the new answer, and
    /// the connection the edges of the old one, behind which late edges of the page before belong.
    @Test(arguments: [7_967_255_586_881_585_020 as UInt64])
    func formerlyWrong(_ seed: UInt64) throws {
        try PagesRound(seed: seed, mayCut: true, hasTwins: false).run()
    }
}

struct PagesMismatch: Error, CustomStringConvertible {
    let description: String
}

/// One round: a store, and the connections in it.
private final class PagesRound {
    private var random: SeededGenerator
    private let lanes: [PagedLane]

    /// - Parameter hasTwins: two of the connections share a field, and edges may be moved.
    init(seed: UInt64, mayCut: Bool, hasTwins: Bool) {
        var random = SeededGenerator(seed: seed)
        let moves = hasTwins && random.below(2) == 0
        self.random = random
        let store = Store.quiet()
        let shared = PagedServer("Page")
        func lane(_ name: String, _ server: PagedServer, isBackward: Bool = false) -> PagedLane {
            PagedLane(
                name, store, server, isBackward: isBackward, mayCut: mayCut, moves: moves,
                stepKinds: hasTwins ? 15 : 13)
        }
        lanes =
            [
                lane("Page", shared), lane("Done", PagedServer("Done")),
                lane("DoneBack", PagedServer("DoneBack"), isBackward: true),
            ] + (hasTwins ? [lane("Other", shared)] : [])
    }

    func run() throws {
        for lane in lanes { try lane.begin(&random) }
        for _ in 0..<60 {
            let lane = random.pick(lanes)
            try lane.step(&random)
            try lane.check()
        }
        for lane in lanes { try lane.finish(&random) }
        for lane in lanes { try lane.check() }
    }
}

/// What a field has, in the direction of paging: backwards the last one is the first here.
private final class PagedServer {
    let name: String
    var rows: [String] = []
    /// How many answers are under way.
    var answerCount = 0
    private var next = 0

    init(_ name: String) { self.name = name }

    func new(_ prefix: String) -> String {
        next += 1
        return "\(prefix)\(name)\(next)"
    }
}

/// A connection, its server, and the answers that are under way.
private final class PagedLane {
    /// What a server says to one request, and what of it has come.
    final class Answer {
        let variables: VariableData
        let count: Int
        let isFirstPage: Bool
        let cursor: String?
        let messages: [JSONValue]
        let tellsInfoFirst: Bool
        let parts = ResponseParts()
        var sent = 0

        init(
            _ variables: VariableData, count: Int, cursor: String?, messages: [JSONValue],
            tellsInfoFirst: Bool
        ) {
            (self.variables, self.count) = (variables, count)
            (self.cursor, self.messages) = (cursor, messages)
            (self.tellsInfoFirst, isFirstPage) = (tellsInfoFirst, cursor == nil)
        }
    }

    private struct Pair: Hashable { let first, second: String }

    private let name: String
    private let store: Store
    private let isBackward: Bool
    private let mayCut: Bool
    private let moves: Bool
    private let stepKinds: Int
    private let server: PagedServer
    private var answers: [Answer] = [] {
        didSet { server.answerCount += answers.count - oldValue.count }
    }
    /// What was asked for since the first page.
    private var asked: [(count: Int, cursor: String)] = []
    /// Nothing broke off or was overtaken since the first page.
    private var isCalm = true
    private var log: [String] = []

    // What was said by any response.
    private var firsts: Set<String> = []
    private var listed: [String: Set<String>] = [:]
    private var ends: Set<Pair> = []
    /// Out of its place.
    private var taken: Set<String> = []
    private var moved: Set<String> = []
    /// A page was asked for by the cursor of an edge that had been moved: where that stands, its edges do.
    private var hasAskedByMoved = false

    /// The connection, had all come whole.
    private var whole: [String] = []
    private var wholeEnd: (cursor: String?, hasMore: Bool) = (nil, false)

    init(
        _ name: String, _ store: Store, _ server: PagedServer, isBackward: Bool, mayCut: Bool,
        moves: Bool, stepKinds: Int
    ) {
        (self.name, self.store, self.server) = (name, store, server)
        (self.isBackward, self.mayCut, self.moves) = (isBackward, mayCut, moves)
        self.stepKinds = stepKinds
    }

    private func isLocal(_ id: String) -> Bool { id.hasPrefix("L") }

    // MARK: The connection as the store has it

    private func connection() throws -> JSONValue {
        try store.json(name, ["count": 1])["me"]?["todos"] ?? .null
    }

    private func edges() throws -> [String] {
        let ids =
            try connection()["edges"]?.array?.map { $0["node"]?["id"]?.string ?? "-" } ?? []
        return isBackward ? ids.reversed() : ids
    }

    private func end() throws -> (cursor: String?, hasMore: Bool) {
        let info = try connection()["pageInfo"]
        return (
            info?[isBackward ? "startCursor" : "endCursor"]?.string,
            info?[isBackward ? "hasPreviousPage" : "hasNextPage"] == .bool(true)
        )
    }

    // MARK: Steps

    func begin(_ random: inout SeededGenerator) throws {
        if server.rows.isEmpty {
            server.rows = (0..<random.below(14) + 4).map { _ in server.new("s") }
        }
        try refetch(&random)
        while !answers.isEmpty { try deliver(answers[0]) }
    }

    func step(_ random: inout SeededGenerator) throws {
        switch random.below(stepKinds) {
        case 0: if mayCut || answers.isEmpty { try refetch(&random) }
        case 1, 2: try loadNext(&random)
        case 3: try append()
        case 4: try takeOut(&random)
        case 5: if mayCut || server.answerCount == 0 { change(&random) }
        case 6: cut(&random)
        case 7: if mayCut, !answers.isEmpty { try askAgain(&random) }
        case 13: try move(&random)
        case 14:
            if mayCut, let page = asked.last {
                try ask(count: page.count, cursor: page.cursor, &random)
            }
        default: if !answers.isEmpty { try deliver(random.pick(answers)) }
        }
    }

    private func refetch(_ random: inout SeededGenerator) throws {
        try ask(count: 2 + random.below(3), cursor: nil, &random)
    }

    private func loadNext(_ random: inout SeededGenerator) throws {
        let (cursor, hasMore) = try end()
        guard hasMore, let cursor else { return }
        let isUnderWay = answers.contains { $0.cursor == cursor }
        if isUnderWay {
            guard mayCut else { return }
            isCalm = false
        }
        try ask(count: 2 + random.below(2), cursor: cursor, &random)
    }

    /// The same request while it is answered: its answers come side by side.
    private func askAgain(_ random: inout SeededGenerator) throws {
        let answer = random.pick(answers)
        try ask(count: answer.count, cursor: answer.cursor, &random)
    }

    private func append() throws {
        let id = server.new("L")
        log.append("append \(id)")
        let node: JSONValue = ["id": .string(id), "text": "T"]
        try mutate(
            isBackward ? "Prepend" : "AppendAll",
            ["add": isBackward ? ["todo": node] : ["todos": [node]]])
        whole.append(id)
    }

    private func takeOut(_ random: inout SeededGenerator) throws {
        let there = try moves ? edgesBesideCursors() : edges()
        guard !there.isEmpty else { return }
        let id = random.pick(there)
        log.append("take out \(id)")
        taken.insert(id)
        try mutate("Remove", ["remove": ["deletedID": .string(id), "deletedIDs": nil]])
        whole.removeAll { $0 == id }
    }

    private func move(_ random: inout SeededGenerator) throws {
        let movable = try edgesBesideCursors()
        guard moves, answers.isEmpty, !movable.isEmpty else { return }
        let (id, place) = (random.pick(movable), random.pick([ConnectionPlace.start, .end]))
        log.append("move \(id) to the \(place)")
        taken.insert(id)
        moved.insert(id)
        try store.commitUpdate { source in
            let user = source["u"]
            let filters: VariableData = ["complete": true]
            let connection =
                switch name {
                case "Page": user?.connection("Todos_todos")
                case "Other": user?.connection("Other_todos")
                case "Done": user?.connection("Done_todos", filters: filters)
                default: user?.connection("Back_todos", filters: filters)
                }
            connection?.move(nodeID: DataID(id), to: place)
        }
    }

    /// Those by whose cursors no page is asked for.
    private func edgesBesideCursors() throws -> [String] {
        let cursors = Set(asked.map(\.cursor) + [try end().cursor])
        return try edges().filter { !cursors.contains("c" + $0) }
    }

    private func mutate(_ mutation: String, _ data: JSONValue) throws {
        let user = try #require(store.snapshot.existing("u"))
        let key =
            switch name {
            case "Page": "__Todos_todos_connection"
            case "Other": "__Other_todos_connection"
            case "Done": "__Done_todos_connection(complete:true)"
            default: "__Back_todos_connection(complete:true)"
            }
        guard case .link(let id)? = store.snapshot.fieldValue(key, of: user) else {
            throw PagesMismatch(description: "\(name): there is no connection")
        }
        try store.commit(
            mutation, ["id": "", "connections": [id.rawValue]], ["data": data])
    }

    private func change(_ random: inout SeededGenerator) {
        if random.below(2) == 0, server.rows.count > 3 {
            log.append(
                "server loses \(server.rows.remove(at: random.below(server.rows.count)))")
        } else {
            let id = server.new("s")
            server.rows.insert(id, at: random.below(server.rows.count + 1))
            log.append("server has \(server.rows)")
        }
    }

    /// An answer breaks off.
    private func cut(_ random: inout SeededGenerator) {
        let these = answers.filter { !$0.tellsInfoFirst && $0.sent > 0 }
        guard mayCut, !isBackward, !these.isEmpty else { return }
        drop(random.pick(these))
    }

    private func drop(_ answer: Answer) {
        log.append("break off \(answer.variables)")
        answers.removeAll { $0 === answer }
        isCalm = false
    }

    // MARK: Answers

    private func ask(count: Int, cursor: String?, _ random: inout SeededGenerator) throws {
        let variables: VariableData =
            cursor.map { ["count": count, "cursor": $0] } ?? ["count": count]
        if let old = answers.first(where: { $0.variables == variables }) {
            isCalm = false
            if !old.tellsInfoFirst, !isBackward, random.below(2) == 0 { drop(old) }
        }
        let start = cursor.map { cursor in server.rows.firstIndex { "c" + $0 == cursor } } ?? -1
        // The server does not know the cursor any more.
        guard let start else { return }
        let page = Array(server.rows.dropFirst(start + 1).prefix(count))
        let hasMore = start + 1 + page.count < server.rows.count
        let info = info(page, hasMore)
        let tellsInfoFirst = random.below(3) == 0
        note(page, behind: cursor, hasMore)

        let sent = isBackward ? page.reversed() : page
        var messages: [JSONValue] = []
        if !tellsInfoFirst, random.below(5) == 0 {
            // All of it is deferred.
            messages.append(Self.response([:]))
            messages.append(
                Self.members(["edges": .array(sent.map(Self.edge)), "pageInfo": info]))
        } else {
            var place = random.below(sent.count + 1)
            var todos: JSONObject = ["edges": .array(sent.prefix(place).map(Self.edge))]
            if tellsInfoFirst { todos["pageInfo"] = info }
            messages.append(Self.response(todos))
            while place < sent.count {
                let items = sent.dropFirst(place).prefix(1 + random.below(2))
                messages.append(Self.items(items.map(Self.edge), at: place))
                place += items.count
            }
            if !tellsInfoFirst { messages.append(Self.members(["pageInfo": info])) }
        }
        let answer = Answer(
            variables, count: count, cursor: cursor, messages: messages,
            tellsInfoFirst: tellsInfoFirst)
        log.append("ask \(variables): \(page), hasMore \(hasMore), \(messages.count) messages")
        answers.append(answer)
        if let cursor, moved.contains(String(cursor.dropFirst())) { hasAskedByMoved = true }
        if let cursor { asked.append((count, cursor)) } else { asked = [] }
        if !mayCut {
            comeWhole(page, cursor, hasMore)
            try deliver(answer)
            // All of it is deferred: it begins with its edges.
            if answer.sent == 1, todosAreEmpty(messages[0]) { try deliver(answer) }
        } else if cursor == nil, random.below(2) == 0 {
            try deliver(answer)
        }
    }

    private func todosAreEmpty(_ message: JSONValue) -> Bool {
        message["data"]?["me"]?["todos"] == [:]
    }

    private func info(_ page: [String], _ hasMore: Bool) -> JSONValue {
        func cursor(_ id: String?) -> JSONValue { id.map { .string("c" + $0) } ?? .null }
        let (near, far) = (cursor(page.first), cursor(page.last))
        return [
            "startCursor": isBackward ? far : near, "endCursor": isBackward ? near : far,
            "hasNextPage": .bool(!isBackward && hasMore),
            "hasPreviousPage": .bool(isBackward && hasMore),
        ]
    }

    private func note(_ page: [String], behind cursor: String?, _ hasMore: Bool) {
        let before = cursor.map { String($0.dropFirst()) }
        if let first = page.first {
            if let before {
                listed[before, default: []].insert(first)
            } else {
                firsts.insert(first)
            }
        }
        for (one, other) in zip(page, page.dropFirst()) { listed[one, default: []].insert(other) }
        let end = page.last.map { "c" + $0 } ?? cursor ?? ""
        ends.insert(Pair(first: end, second: "\(hasMore)"))
    }

    private func comeWhole(_ page: [String], _ cursor: String?, _ hasMore: Bool) {
        if let cursor {
            guard cursor == wholeEnd.cursor else { return }
            whole += page.filter { !whole.contains($0) }
            wholeEnd = (page.last.map { "c" + $0 } ?? cursor, hasMore)
        } else {
            whole = page
            wholeEnd = (page.last.map { "c" + $0 }, hasMore)
        }
    }

    private func deliver(_ answer: Answer) throws {
        let operation = try TodoDocuments.operation(name, answer.variables)
        let message = answer.messages[answer.sent]
        log.append("deliver \(answer.variables): \(message.text)")
        if answer.isFirstPage, answer.sent == 0 { isCalm = !answers.contains { $0 !== answer } }
        if !answer.isFirstPage, mayCut, try end().cursor != answer.cursor, answer.sent == 0 {
            isCalm = false
        }
        answer.sent += 1
        if answer.sent == answer.messages.count { answers.removeAll { $0 === answer } }
        let payload = ArrivedPayload(operation, message.bytes, parts: answer.parts)
        _ = try store.commitPayloads([payload])[0].get()
        log.append("  \(try edges()), \(try end())")
    }

    // MARK: Checks

    func check() throws {
        let there = try edges()
        try require(Set(there).count == there.count, "a node is there twice: \(there)")
        let isUnderWay = answers.contains { $0.sent > 0 && ($0.tellsInfoFirst || isBackward) }
        if isUnderWay || hasAskedByMoved { return }
        let known = there.filter { !isLocal($0) && !moved.contains($0) }
        if let first = known.first {
            try require(
                firsts.contains { isReached(first, from: $0) }, "\(first) is not the first")
        }
        for (one, other) in zip(known, known.dropFirst()) {
            try require(
                (listed[one] ?? []).contains { isReached(other, from: $0) },
                "\(other) does not follow \(one)")
        }
        if !answers.isEmpty { return }
        let (cursor, hasMore) = try end()
        guard let cursor else {
            try require(!hasMore && !isCalm || server.rows.isEmpty, "there is no end")
            return
        }
        try require(
            ends.contains(Pair(first: cursor, second: "\(hasMore)")),
            "\(cursor) with \(hasMore) is no end that a response had")
        let node = String(cursor.dropFirst())
        if let last = known.last, last != node {
            // It has been taken out, or what broke off stands behind it.
            let isBehind = (listed[last] ?? []).contains { isReached(node, from: $0) }
            let isBefore = !isCalm && (known.contains(node) || taken.contains(node))
            try require(isBehind || isBefore, "the end is \(cursor), the last edge is \(last)")
        }
    }

    /// Over nodes that were taken out.
    private func isReached(_ node: String, from start: String) -> Bool {
        var (seen, left): (Set<String>, [String]) = ([start], [start])
        while let one = left.popLast() {
            if one == node { return true }
            guard taken.contains(one) else { continue }
            for other in listed[one] ?? [] where seen.insert(other).inserted { left.append(other) }
        }
        return false
    }

    func finish(_ random: inout SeededGenerator) throws {
        while !answers.isEmpty { try deliver(random.pick(answers)) }
        try check()
        if !mayCut {
            let there = try edges().filter { !moved.contains($0) }
            let whole = whole.filter { !moved.contains($0) }
            for part in [isLocal, { !self.isLocal($0) }] {
                try require(
                    there.filter(part) == whole.filter(part), "\(there), and whole \(whole)")
            }
            let end = try end()
            try require(end == wholeEnd, "the end is \(end), and whole \(wholeEnd)")
            return
        }
        var count = 0
        while try end().hasMore {
            let answersBefore = log.count
            try ask(count: 3, cursor: try end().cursor, &random)
            while !answers.isEmpty { try deliver(answers[0]) }
            if log.count == answersBefore { return }
            count += 1
            try require(count < 100, "loading the next page does not end")
        }
    }

    private func require(_ condition: Bool, _ message: String) throws {
        if condition { return }
        throw PagesMismatch(
            description: "\(name): \(message)\n" + log.suffix(40).joined(separator: "\n"))
    }

    // MARK: Messages

    private static func edge(_ id: String) -> JSONValue {
        [
            "cursor": .string("c" + id),
            "node": ["__typename": "Todo", "id": .string(id), "text": "T", "complete": true],
        ]
    }

    private static func response(_ todos: JSONObject) -> JSONValue {
        ["data": ["me": ["id": "u", "todos": .object(todos)]], "hasNext": true]
    }

    private static func members(_ members: JSONObject) -> JSONValue {
        [
            "incremental": [["path": ["me", "todos"], "data": .object(members)]],
            "hasNext": true,
        ]
    }

    private static func items(_ items: [JSONValue], at place: Int) -> JSONValue {
        [
            "incremental": [
                ["path": ["me", "todos", "edges", .int(Int64(place))], "items": .array(items)]
            ],
            "hasNext": true,
        ]
    }
}
