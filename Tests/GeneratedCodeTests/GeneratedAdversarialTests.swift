import BoundedTesting
import Foundation
import Relay
import RelayArtifacts
import Testing

/// Data of rare shapes, with names that mean something else in Swift.
@Suite(.bounded) struct GeneratedAdversarialTests {
    private static let answer = """
        {"data": {
          "things": [
            {"__typename": "Optional", "__isNode": "Optional", "__isNamed": "Optional", "__isOwned": "Optional", "id": "o",
             "title": "O", "name": "o", "some": 1,
             "owner": {"__typename": "Result", "__isNode": "Result", "id": "r", "title": "R", "name": "r", "result": "IN_PROGRESS"}},
            {"__typename": "Type", "type": {"default": "d", "init": "i", "self": "s", "_": 7, "record": "r",
              "value": "v", "Protocol": null, "data": "NEW", "env": "DEV"}},
            {"__typename": "Other", "__isNode": "Other", "id": "x"}
          ],
          "thing": {"__typename": "Result", "__isNode": "Result", "id": "r", "title": "R", "result": "IN_PROGRESS"},
          "dates": [[1.5, null]], "json": {"a": [1]}, "again": {"a": [1]},
          "optional": {"id": "o", "title": "O", "name": "o"},
          "node": {"__typename": "Result", "id": "r", "title": "R", "result": "IN_PROGRESS"},
          "required": {"id": "o", "owner": {"__typename": "Result", "__isNode": "Result", "id": "r"}},
          "type": {"record": "r", "self": null, "type": {"type": {"type": {"init": "deep"}}}, "default": "SELF",
            "Type": "v", "String": "v", "Int": 7, "fragment_Adv_type": "v"},
          "Type_type": {"value": "v"}, "a_b": {"id": "o"}
        }}
        """

    private func data(
        with: Bool, in environment: MockEnvironment = MockEnvironment()
    ) throws -> AdvQuery.Data? {
        let query = AdvQuery(with: with, data: .inProgress)
        try environment.cachePayload(query, Self.answer)
        return try environment.lookup(
            selector: query.createDescriptor().fragment, as: AdvQuery.Data.self
        ).value()
    }

    /// A scalar type whose Swift type is a dictionary.
    @Test func objectsAreDictionaries() throws {
        let environment = MockEnvironment()
        let query = AdvTimesQuery(of: ["b": [], "a": [Instant(seconds: 1)]])
        #expect(query.variables.variableData.description == "{of:{a:[1.0],b:[]}}")
        let read = { (answer: String) in
            try environment.cachePayload(query, answer)
            return try environment.lookup(
                selector: query.createDescriptor().fragment, as: AdvTimesQuery.Data.self
            ).value()?.times
        }
        #expect(
            try read(#"{"data": {"times": {"x": [1.5], "": []}}}"#)
                == ["x": [Instant(seconds: 1.5)], "": []])
        #expect(try read(#"{"data": {"times": {}}}"#) == [:])
        for answer in [#"{"x": [null]}"#, #"{"x": 1}"#, "[]"] {
            #expect(throws: (any Error).self) { try read(#"{"data": {"times": \#(answer)}}"#) }
        }
    }

    @Test func everyValueIsWhereItBelongs() throws {
        let data = try #require(try data(with: false))
        #expect(data.things.map(\.__typename) == ["Optional", "Type", "Other"])
        let optional = try #require(data.things[0].asOptional)
        #expect(optional.title == "O" && optional.some == nil)
        #expect(optional.owner?.title == "R" && optional.owner?.result == .inProgress_)
        let type = try #require(data.things[1].asType?.type)
        #expect(type.`default` == "d" && type.`init` == "i" && type.self_ == "s" && type.__ == 7)
        #expect(type.record == "r" && type.value == "v" && type.`Protocol` == nil)
        #expect(type.data == .unknown("NEW") && type.env == .dev)
        guard case .other(let other) = data.things[2] else {
            Issue.record("A type that is not selected is read all the same.")
            return
        }
        #expect(other.__typename == "Other")
        #expect(data.thing.asResult?.title == "R" && data.type == nil)
        #expect(data.dates == [[Instant(seconds: 1.5), nil]])
        #expect(try data.json.get() == ["a": [1]] && data.again == ["a": [1]])
        #expect(try data.optional.get()?.title == nil)
        let node = try #require(data.node)
        #expect(node.id == "r" && node.Result_x?.title == "R")
        #expect(data.required.owner.id == "r" && data.Type_type.value == "v")
        #expect(data.a_b?.id == "o")
    }

    @Test func whatIsIncludedIsThere() throws {
        let environment = MockEnvironment()
        let data = try #require(try data(with: true, in: environment))
        #expect(data.things[0].asOptional?.some == 1)
        #expect(try data.optional.get()?.title == "O")
        let node = try #require(data.node)
        let other = try #require(environment.lookup(Adv_other(key: node)).data)
        guard case .other_(let value) = other else {
            Issue.record("A Result is no Other.")
            return
        }
        #expect(other.Other == "Result" && other.other == "Result" && value.id == "r")
        let type = try #require(data.type)
        #expect(type.record == "r" && type.`default` == .self_ && type.`Type` == "v")
        #expect(type.String == "v" && type.Int == 7 && type.fragment_Adv_type_ == "v")
        #expect(type.fragment_Adv_more == nil)
        let fragments = [type].asFragments().map { environment.lookup($0).data }
        #expect(fragments.first??.record == "r" && fragments.first??.self_ == nil)
        #expect(fragments.first??.type.type.type.`init` == "deep")
    }

    /// The default of a fragment is not for an argument that is given without a value.
    @Test func anArgumentWithoutAValueIsPassedOnWithoutOne() throws {
        let environment = MockEnvironment()
        let query = AdvOuterQuery()
        #expect(query.createDescriptor().request.node.params.text?.contains("10") == false)
        try environment.cachePayload(query, #"{"data": {"type": {"default": "sent"}}}"#)
        let data = try environment.lookup(
            selector: query.createDescriptor().fragment, as: AdvOuterQuery.Data.self
        ).value()
        let type = try #require(data?.type)
        let outer = try #require(environment.lookup(Adv_outer(key: type)).data)
        #expect(environment.lookup(Adv_count(key: outer)).data?.`default` == "sent")
    }

    /// One value where a list is expected is a list of one, with an argument of the fragment in it as well.
    @Test func aListOfOneIsReadAsItWasSent() throws {
        let environment = MockEnvironment()
        let query = AdvListQuery()
        try environment.cachePayload(
            query, #"{"data": {"things": [{"__typename": "Type"}]}}"#)
        let data = try environment.lookup(
            selector: query.createDescriptor().fragment, as: AdvListQuery.Data.self
        ).value()
        let list = environment.lookup(Adv_list(key: try #require(data))).data
        #expect(list?.things.map(\.__typename) == ["Type"])
    }

    /// The store has one root, with a type of its own; a server does not know that type.
    @Test func theRootHasTheTypeThatTheServerGaveIt() async throws {
        let environment = MockEnvironment()
        environment.answer { request in
            Data(
                (request.request.node.params.name == "AdvRootQuery"
                    ? #"{"data": {"__typename": "Query", "type": {"value": "v"}, "root": "Query"}}"#
                    : #"{"data": {"__typename": "Mutation", "make": null}}"#).utf8)
        }
        let query = try #require(try await environment.fetch(AdvRootQuery()).data)
        #expect(query.__typename == "Query")
        #expect(environment.lookup(Adv_root(key: query)).data?.root == "Query")
        let mutation = try await environment.commit(AdvRootMutation()).data
        #expect(mutation?.__typename == "Mutation")
    }

    /// `@required` under a condition guards nothing while the condition does not hold.
    @Test func aFieldIsThereOnlyIfItIsRequiredWhereverItIsSelected() throws {
        let environment = MockEnvironment()
        func thing(with: Bool, _ fields: String) throws -> AdvGuardQuery.Data.Thing_thing? {
            let query = AdvGuardQuery(with: with)
            try environment.cachePayload(
                query,
                """
                {"data": {"thing": {"__typename": "Optional", "__isOwned": "Optional", "__isNode": "Optional",
                  "id": "o", \(fields)}}}
                """)
            return try environment.lookup(
                selector: query.createDescriptor().fragment, as: AdvGuardQuery.Data.self
            ).value()?.thing
        }
        let owner =
            #""owner": {"__typename": "Result", "__isNode": "Result", "id": "r", "title": "R"}"#
        let some = try #require(try thing(with: true, #""some": 1, \#(owner)"#)?.asOptional)
        #expect(some.some == 1 && some.owner?.title == "R")
        let none = try #require(try thing(with: false, #""some": null, "owner": null"#)?.asOptional)
        #expect(none.some == nil && none.owner == nil)
        #expect(try thing(with: true, #""some": null, \#(owner)"#) == nil)
    }

    /// A default is for a spread that does not give the argument: one that gives a variable without a value has sent
    /// no argument.
    @Test(arguments: [
        (AdvCountQuery.Variables(), "given"), (.init(null: [.n]), "given"), (.init(n: 3), "given"),
    ])
    func anArgumentOfAFragmentIsReadAsItWasSent(
        _ variables: AdvCountQuery.Variables, _ expected: String
    ) throws {
        let environment = MockEnvironment()
        let query = AdvCountQuery(variables: variables)
        try environment.cachePayload(
            query, #"{"data": {"given": {"default": "given"}, "bare": {"default": "bare"}}}"#)
        let data = try #require(
            try environment.lookup(
                selector: query.createDescriptor().fragment, as: AdvCountQuery.Data.self
            ).value())
        #expect(environment.lookup(Adv_count(key: data.given)).data?.`default` == expected)
        #expect(environment.lookup(Adv_count(key: data.bare)).data?.`default` == "bare")
    }

    // MARK: Values that are sent

    @Test func anEnumHasACaseForWhatItDoesNotKnow() {
        #expect(Data_(rawValue: "IN_PROGRESS") == .inProgress_)
        #expect(Data_(rawValue: "inProgress").rawValue == "inProgress")
        #expect(Data_(rawValue: "NEW") == .unknown("NEW"))
        #expect(Data_.unknown("NEW").variableValue == .string("NEW"))
        // Deprecated values are made, and compared by their texts, and not offered.
        let old = Data_(rawValue: "OLD")
        if case .unknown = old { Issue.record("A deprecated value is known.") }
        #expect(old.rawValue == "OLD" && !Data_.allCases.contains(old))
        #expect(Set([old, .unknown("OLD")]).count == 1)
        for value in Data_.allCases { #expect(Data_(rawValue: value.rawValue) == value) }
    }

    @Test func inputsMayContainThemselves() {
        var filter = Filter(
            and: [Filter(`inout`: 1)], not: Filter(not: Filter(self_: 2, `inout`: 3), `inout`: 4),
            other: Second(id: "s", filter: Filter(`inout`: 5)), by: .name("n"), let: 6,
            `inout`: 7,
            null: [.text, .null_])
        #expect(
            filter.variableData.description
                == #"{and:[{inout:1}],by:{name:"n"},inout:7,let:6,not:{inout:4,not:{inout:3,self:2}},"#
                + #"null:null,other:{filter:{inout:5},id:"s"},text:null}"#)
        #expect(filter.not?.not?.self_ == 2)
        filter.not = nil
        #expect(filter.not == nil && filter.other?.filter.inout == 5)
        #expect(filter == filter && Set([filter]).count == 1)
    }

    @Test func anInputIsMadeWithItsIDFirstWhereverTheSchemaHasIt() {
        #expect(
            RenameInput(id: "a", title: "t").variableData.description == #"{id:"a",title:"t"}"#)
        #expect(
            UpdateInput(id: "a", title: "t", name: "n").variableData.description
                == #"{id:"a",name:"n",title:"t"}"#)
        #expect(
            UpdateInput(clientMutationId: "c", title: "t", id: "a", name: "n").variableData
                .clientMutationId == "c")
    }

    /// The names of a JSON scalar are the program's: Unicode may call two of them equivalent.
    @Test func anExpectedAnswerMayHaveAnyJSON() throws {
        let json: VariableValue = ["\u{E9}": 1, "e\u{301}": [2.5, VariableValue.null, "x"]]
        nonisolated(unsafe) var seen: [VariableValue?] = []
        Mutation<AdvUpdateMutation>(environment: MockEnvironment()).wrappedValue.commit(
            variables: .init(input: .init(id: "a", title: "t", name: "n")),
            optimisticResponse: .init(update: .init(json: json)),
            optimisticUpdater: { _, data in
                let payload = data?.get(SelectorData?.self, "update")
                seen.append(payload?.get(VariableValue?.self, "json"))
            })
        #expect(seen == [json])
    }

    /// A type that is selected in two places is written once.
    @Test func expectedAnswersShareTheirTypes() {
        let things = [AdvSharedMutation.OptimisticResponse.Thing_things.type(.init(value: "v"))]
        let answer = AdvSharedMutation.OptimisticResponse(
            one: .init(things: things, thing: .optional(.init(id: "a"))),
            two: .init(things: things + [.result(.init(id: "b"))]))
        #expect(
            answer.variableData.description
                == #"{one:{thing:{__typename:"Optional",id:"a"},things:[{__typename:"Type",value:"v"}]},"#
                + #"two:{things:[{__typename:"Type",value:"v"},{__typename:"Result",id:"b"}]}}"#)
    }

    @Test func expectedAnswersSayTheirTypes() {
        let answer = AdvMutation.OptimisticResponse(
            change: .init(
                node: .other_(.init(id: "x", other: "y")), things: [.type(.init(self_: "s")), nil],
                at: Instant(seconds: 2)),
            make: .other(.init(__typename: "New")))
        #expect(
            answer.variableData.description
                == #"{change:{at:2.0,node:{__typename:"Other",id:"x",other:"y"},"#
                + #"things:[{__typename:"Type",self:"s"},null]},make:{__typename:"New"}}"#)
    }
}
