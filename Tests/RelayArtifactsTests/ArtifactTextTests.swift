import BoundedTesting
import GeneratedModules
import RelayArtifacts
import RelayIR
import RelayJSON
import Testing

@Suite struct ArtifactTextTests {
    @Test func anOperationIsCompact() {
        let id = [VariableArgument(name: "id", variableName: "id")]
        let definitions = [ArgumentDefinition.local(name: "id", defaultValue: "me")]
        let request = ConcreteRequest(
            fragment: ReaderFragment(
                name: "UserQuery", type: "Query", argumentDefinitions: definitions,
                selections: [
                    .field(
                        ReaderLinkedField(
                            name: "user", args: id, concreteType: "User",
                            selections: [
                                .field(ReaderScalarField(name: "id")),
                                .fragmentSpread(ReaderFragmentSpread(name: "List_user")),
                            ]))
                ]),
            operation: NormalizationOperation(
                name: "UserQuery", argumentDefinitions: definitions,
                selections: [
                    .field(
                        NormalizationLinkedField(
                            name: "user", args: id, concreteType: "User",
                            selections: [.field(NormalizationScalarField(name: "id"))]))
                ]),
            params: RequestParameters(
                name: "UserQuery", operationKind: .query, text: "query UserQuery { \"…\" }\n"))
        let text =
            #"[1,"UserQuery",0,1,"#
            + #"["Query",[[1,"user",["id",[2,"List_user"]],"User",0,0,["id"]]],[["id","me"]]],"#
            + #"[[[1,"user",["id"],"User",0,0,["id"]]]],"query UserQuery { \"…\" }\n"]"#
        #expect(request.artifact == text)
        #expect(throws: Never.self) { try same(request) }
    }

    @Test func abstractTypesAreWrittenOnce() throws {
        let onNode = ReaderSelection.inlineFragment(
            ReaderInlineFragment(
                type: "Node", abstractKey: "__isNode", possibleTypes: ["User", "Todo"],
                selections: [.field(ReaderScalarField(name: "id"))]))
        let fragment = ReaderFragment(
            name: "A_node", type: "Node", abstractKey: "__isNode", possibleTypes: ["User", "Todo"],
            selections: [onNode, onNode])
        #expect(
            fragment.artifact
                == #"[1,"A_node",[["Node",1,"User","Todo"]],[0,[[3,0,["id"]],[3,0,["id"]]]]]"#)
        try same(fragment)
    }

    @Test func theDocumentsOfTheTodoClientComeBackEqual() throws {
        let documents = try GeneratedModule.todoFixtures.documents()
        #expect(!documents.operations.isEmpty && !documents.fragments.isEmpty)
        for operation in documents.operations { try same(operation.request) }
        for fragment in documents.fragments { try same(fragment.node) }
    }

    @Test(arguments: 0..<20) func randomNodesComeBackEqual(_ round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = RandomArtifact(seed: seed)
        for _ in 0..<25 {
            do {
                try same(random.request())
                try same(random.fragment())
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }

    @Test func readAsLiteralsInGeneratedCode() {
        let request = ConcreteRequest(
            artifact: #"[1,"Q",0,1,["Query",["__typename"]],[["__typename"]],0,"a1"]"#)
        #expect(request.params == RequestParameters(name: "Q", operationKind: .query, id: "a1"))
        let fragment = ReaderFragment(artifact: #"[1,"F_user",0,["User",["id"]]]"#)
        #expect(fragment.name == "F_user")
    }

    // MARK: What is not an artifact

    @Test(arguments: [
        (#"[2,"Q"]"#, "version 2"), (#"[1,"Q",0,1,["Query",["id"]]"#, "the text ends too early"),
        (#"[1,"Q",0,4,["Query",[]],[[]],"q"]"#, "4 stands for nothing here"),
        (#"[1,"Q",0,1,[0,[]],[[]],"q"]"#, "there is no type 0"),
        (#"[1,"Q",0,1,["Query",[[10]]],[[]],"q"]"#, "there is no selection of kind 10"),
        (#"[1,"Q",0,1,["Query",[]],[[]],0,0,0,0]"#, "there is one part more"),
        (#"[1,"Q",0,1]"#, "a part is missing"),
        (#"[1,"Q",0,1,["Query",[[0,"a",1]]],[[]],"q"]"#, "a number is not expected here"),
        (#"[1,"Q",0,1,["Query",[]],[[]],"q"] "#, "no error"), ("", "ends too early"),
        (#"[1,"Q",0,1,["Query",[]],[[]],"q"]]"#, "more text behind the value"),
        (#"{"version":1}"#, #"expected "[", found "{""#),
        (#"[1,"Q",0,1,["Query",[[0,"a",0,[[7,"x",1]]]]],[[]],"q"]"#, "no argument of kind 7"),
    ])
    func damageIsNamed(_ text: String, _ what: String) {
        do {
            _ = try decoded(text)
            #expect(what == "no error")
        } catch let error as ArtifactError {
            #expect(error.description.contains(what))
            #expect(error.description.hasSuffix(". Compile again with this release."))
            #expect(error.name == (text.hasPrefix("[1,\"Q\"") ? "Q" : nil))
        } catch {
            Issue.record(error)
        }
    }

    /// Whatever one byte is replaced by, there is an error or another artifact, and no trap.
    @Test func noDamageTraps() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("noDamageTraps: seed \(seed)")  // A trap would not print it.
        var random = SeededGenerator(seed: seed)
        for operation in try GeneratedModule.todoFixtures.documents().operations {
            let text = Array(operation.request.artifact.utf8)
            for _ in 0..<200 {
                var damaged = text
                damaged[random.below(text.count)] = UInt8(random.below(128))
                if random.below(4) == 0 { damaged.removeLast(random.below(text.count)) }
                _ = try? damaged.withUnsafeBytes { try ConcreteRequest(decoding: $0) }
            }
        }
    }
}

private func decoded(_ text: String) throws -> ConcreteRequest {
    try Array(text.utf8).withUnsafeBytes { try ConcreteRequest(decoding: $0) }
}

private struct Difference: Error {
    var before: String
    var after: String
    var text: String
}

private func same(_ request: ConcreteRequest) throws {
    let text = Array(request.artifact.utf8)
    let after = try text.withUnsafeBytes { try ConcreteRequest(decoding: $0) }
    guard everything(in: request) == everything(in: after) else {
        throw Difference(
            before: everything(in: request), after: everything(in: after), text: request.artifact)
    }
}

private func same(_ fragment: ReaderFragment) throws {
    let text = Array(fragment.artifact.utf8)
    let after = try text.withUnsafeBytes { try ReaderFragment(decoding: $0) }
    guard everything(in: fragment) == everything(in: after) else {
        throw Difference(
            before: everything(in: fragment), after: everything(in: after), text: fragment.artifact)
    }
}

/// Every stored property, private ones too, of nodes and of all nodes in them.
private func everything(in value: Any) -> String {
    if let data = value as? VariableData { return data.description }
    if let value = value as? VariableValue { return "\(value)" }
    let mirror = Mirror(reflecting: value)
    guard !mirror.children.isEmpty else { return "\(type(of: value)) \(value)" }
    let children = mirror.children.map { "\($0.label ?? ""): \(everything(in: $0.value))" }
    return "\(type(of: value))(\(children.joined(separator: ", ")))"
}
