import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import TodoFixtures

// A list whose elements have errors: its follower is told of each difference, in elements or in errors, and of nothing
// else.

extension RuntimeLane {
    /// A list that the lane follows, and keeps.
    struct List {
        let ids: [String]
        let retention: AnyCancellable
        let told: Outcomes
        /// What it is now.
        var line: String
        var expected: [String] = []
    }

    /// What is answered for one element.
    private enum Element {
        case todo(String)
        case null
        case failed(String)
    }

    func beginList() throws {
        let ids = (0..<3).map { "\(name)-element-\($0)" }
        let operation = NodesQuery(ids: ids).createDescriptor()
        let retention = environment.retain(operation: operation)
        try answerList(ids, [.null, .null, .null])
        let snapshot: Relay.Snapshot<NodesQuery.Data> = environment.lookup(
            selector: operation.fragment)
        list = List(
            ids: ids, retention: retention,
            told: Outcomes(environment.subscribe(snapshot: snapshot), Self.line),
            line: Self.line(snapshot))
    }

    func answerList() throws {
        guard let ids = list?.ids else { return }
        let elements = ids.map { _ -> Element in
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .null
            case 1: .failed(["lost", "gone"].randomElement(using: &random) ?? "")
            default: .todo(["x", "y"].randomElement(using: &random) ?? "")
            }
        }
        let line = Self.line(ids, elements)
        if line != list?.line { list?.expected.append(line) }
        list?.line = line
        try answerList(ids, elements)
    }

    func compareList() async throws {
        if let list { try await compare(list.told, list.expected, "the list's follower") }
    }

    private func answerList(_ ids: [String], _ elements: [Element]) throws {
        note("answer the list: \(elements)")
        let (outcomes, made) = asking {
            Outcomes(environment.fetchQuery(NodesQuery(ids: ids))) { _ in "list" }
        }
        try require(made.count == 1, "\(made.count) requests were made for a list")
        var nodes: [String] = []
        var errors: [String] = []
        for (place, element) in elements.enumerated() {
            switch element {
            case .todo(let text):
                nodes.append(
                    #"{"__typename":"Todo","id":"\#(ids[place])","text":"\#(text)","complete":true}"#
                )
            case .null: nodes.append("null")
            case .failed(let message):
                nodes.append("null")
                errors.append(#"{"message":"\#(message)","path":["nodes",\#(place)]}"#)
            }
        }
        made[0].send(
            """
            {"data":{"nodes":[\(nodes.joined(separator: ","))]},\
            "errors":[\(errors.joined(separator: ","))]}
            """)
        made[0].complete()
        expectations.append((outcomes, ["list", "finished"]))
    }

    // MARK: Lines

    private static func line(_ ids: [String], _ elements: [Element]) -> String {
        let texts = zip(ids, elements).map { id, element in
            if case .todo(let text) = element { "\(id) \(text)" } else { "null" }
        }
        let errors = elements.enumerated().compactMap { place, element in
            if case .failed(let message) = element { "\(message) at nodes.\(place)" } else { nil }
        }
        return "\(texts) \(errors)"
    }

    private static func line(_ snapshot: Relay.Snapshot<NodesQuery.Data>) -> String {
        let nodes = snapshot.data?.nodes.map { $0?.asTodo.map { "\($0.id) \($0.text)" } ?? "null" }
        let errors = snapshot.errors.map { error in
            let path = error.path?.map(\.description).joined(separator: ".")
            return "\(error.message) at \(path ?? "nowhere")"
        }
        return "\(nodes ?? ["nothing"]) \(errors)"
    }
}
