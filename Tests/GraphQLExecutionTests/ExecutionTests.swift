import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@Suite struct ExecutionTests {
    @Test func fieldsComeInTheOrderOfTheDocument() throws {
        let service = try TestService.withBooks()
        #expect(
            try service.answer("{ b: book(id: \"b1\") { title t: title __typename id price } }")
                == #"{"data":{"b":{"title":"Book 1","t":"Book 1","__typename":"Book","id":"b1","price":1.5}}}"#
        )
    }

    @Test func aRecordIsFoundByItsIDOrAUniqueField() throws {
        let service = try TestService.withBooks()
        #expect(
            try service.answer("{ author(name: \"Ada\") { id } }")
                == #"{"data":{"author":{"id":"ada"}}}"#)
        #expect(
            try service.answer("{ author(name: \"ada\") { id } }")
                == #"{"data":{"author":{"id":"ada"}}}"#)
        #expect(
            try service.answer("{ author(name: \"b1\") { id } }") == #"{"data":{"author":null}}"#)
    }

    @Test func fragmentsApplyByTypeAndMerge() throws {
        let service = try TestService.withBooks()
        let query = """
            query($id: ID!) { any(id: $id) { id ...B ... on Author { name } ... on Node { __typename } } }
            fragment B on Book { title author { name } author { id } }
            """
        #expect(
            try service.answer(query, ["id": "b0"])
                == #"{"data":{"any":{"id":"b0","title":"Book 0","author":{"name":"Ada","id":"ada"},"__typename":"Book"}}}"#
        )
        #expect(
            try service.answer(query, ["id": "ada"])
                == #"{"data":{"any":{"id":"ada","name":"Ada","__typename":"Author"}}}"#)
    }

    @Test(arguments: [
        (true, true, #"{"data":{"book":{"title":"Book 1"}}}"#),
        (false, true, #"{"data":{"book":{"title":"Book 1","price":1.5}}}"#),
        (false, false, #"{"data":{"book":{"price":1.5}}}"#),
        (true, false, #"{"data":{"book":{}}}"#),
    ])
    func skipAndIncludeFollowTheVariables(skip: Bool, include: Bool, expected: String) throws {
        let service = try TestService.withBooks()
        let query = """
            query($s: Boolean!, $i: Boolean!) {
              book(id: "b1") { ... @include(if: $i) { title } price @skip(if: $s) }
            }
            """
        #expect(try service.answer(query, ["s": .bool(skip), "i": .bool(include)]) == expected)
    }

    @Test func aMissingValueOfANonNullFieldTakesItsParentWithIt() throws {
        var service = try TestService.withBooks()
        service.write("Book", "b2", ["title": .null])
        #expect(
            try service.answer(
                "{ nodes(ids: [\"b1\", \"b2\", \"none\"]) { ... on Book { title } } }")
                == #"{"data":{"nodes":[{"title":"Book 1"},null,null]},"errors":[{"message":"Cannot return null for non-nullable field Book.title.","locations":[{"line":1,"column":52}],"path":["nodes",1,"title"]}]}"#
        )
        // A list of non-null elements goes as a whole, and so does the author it must belong to.
        #expect(
            try service.answer("{ author(name: \"Ada\") { name bookList { title } } }")
                == #"{"data":{"author":null},"errors":[{"message":"Cannot return null for non-nullable field Book.title.","locations":[{"line":1,"column":41}],"path":["author","bookList",2,"title"]}]}"#
        )
    }

    /// A log can hold them: GraphQL §3.5.2 was not kept once.
    @Test(arguments: [(Double.infinity, "Infinity"), (-.infinity, "-Infinity"), (.nan, "NaN")])
    func whatJSONCannotSayIsAFieldErrorAndNotNull(number: Double, name: String) throws {
        var service = try TestService.withBooks()
        service.write("Book", "b1", ["price": .double(number)])
        #expect(
            try service.answer("{ book(id: \"b1\") { id price } }")
                == #"{"data":{"book":{"id":"b1","price":null}},"errors":[{"message":"Float cannot represent non numeric value: \#(name)","locations":[{"line":1,"column":23}],"path":["book","price"]}]}"#
        )
    }

    @Test func aNullInAStoredListOfNonNullLeavesIsAnErrorAtItsPlace() throws {
        var service = try TestService.withBooks()
        service.write("Book", "b1", ["tags": .json(["a", .null])])
        service.write("Book", "b2", ["tags": .json(["null"])])
        #expect(
            try service.answer("{ a: book(id: \"b1\") { tags } b: book(id: \"b2\") { tags } }")
                == #"{"data":{"a":{"tags":null},"b":{"tags":["null"]}},"errors":[{"message":"Cannot return null for non-nullable field Book.tags.","locations":[{"line":1,"column":23}],"path":["a","tags",1]}]}"#
        )
    }

    @Test func aValueThatDoesNotFitItsTypeIsAFieldError() throws {
        var service = try TestService.withBooks()
        service.write("Author", "ada", ["age": .string("old")])
        service.write("Book", "b1", ["binding": .string("NONE"), "tags": .json(["a", "b"])])
        #expect(
            try service.answer("{ author(name: \"Ada\") { name age } }")
                == #"{"data":{"author":{"name":"Ada","age":null}},"errors":[{"message":"Int cannot represent non-integer value: \"old\"","locations":[{"line":1,"column":30}],"path":["author","age"]}]}"#
        )
        #expect(
            try service.answer("{ book(id: \"b1\") { tags binding } }")
                == #"{"data":{"book":{"tags":["a","b"],"binding":null}},"errors":[{"message":"Enum \"Binding\" cannot represent value: \"NONE\"","locations":[{"line":1,"column":25}],"path":["book","binding"]}]}"#
        )
    }

    /// U+212A, the sign for kelvin, is canonically equivalent to the letter K.
    @Test func anEnumHasItsValuesAndNoneThatLookLikeThem() throws {
        var service = try TestService.withBooks()
        service.write("Book", "b1", ["binding": .string("POCKET")])
        let query = "{ book(id: \"b1\") { binding } }"
        #expect(try service.answer(query) == #"{"data":{"book":{"binding":"POCKET"}}}"#)
        service.write("Book", "b1", ["binding": .string("POC\u{212A}ET")])
        #expect(try service.answer(query).contains(#"Enum \"Binding\" cannot represent value"#))
    }

    @Test func deletedRecordsReadAsNullOrDisappear() throws {
        var service = try TestService.withBooks()
        service.draft.delete("b1")
        #expect(
            try service.answer(
                "{ book(id: \"b1\") { id } author(name: \"Ada\") { bookList { id } bookCount } }")
                == #"{"data":{"book":null,"author":{"bookList":[{"id":"b0"},{"id":"b2"},{"id":"b3"},{"id":"b4"}],"bookCount":1}}}"#
        )
    }

    @Test(
        arguments: [
            (
                "query($id: ID!) { book(id: $id) { id } }", [:],
                "Variable \"$id\" of required type \"ID!\" was not provided."
            ),
            (
                "query($id: ID!) { book(id: $id) { id } }", ["id": nil],
                "Variable \"$id\" of non-null type \"ID!\" must not be null."
            ),
            (
                "query($id: ID!) { book(id: $id) { id } }", ["id": 1.5],
                "Variable \"$id\" got invalid value 1.5; ID cannot represent value: 1.5"
            ),
            (
                "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ["ids": ["a", nil]],
                "Variable \"$ids\" got invalid value null at \"ids[1]\"; Expected non-nullable type \"ID!\" not to be null."
            ),
        ] as [(String, JSONObject, String)])
    func variablesAreCoercedBeforeAnythingRuns(
        query: String, variables: JSONObject, message: String
    ) throws {
        let service = try TestService()
        let failure = #expect(throws: ExecutionErrors.self) { try service.run(query, variables) }
        #expect(failure?.errors.map(\.message) == [message])
    }

    /// As graphql-js does it: what is wrong with four million bytes of variables must not be told item by item.
    @Test func notMoreThanFiftyMistakesInVariablesAreTold() throws {
        let service = try TestService()
        func messages(_ ids: [JSONValue]) -> [String] {
            let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
            let failure = #expect(throws: ExecutionErrors.self) {
                try service.run(query, ["ids": .array(ids)])
            }
            return failure?.errors.map(\.message) ?? []
        }
        let tooMany =
            "Too many errors processing variables, error limit reached. Execution aborted."
        let fifty = messages(Array(repeating: true, count: 50))
        #expect(fifty.count == 50 && !fifty.contains(tooMany))
        #expect(messages(Array(repeating: true, count: 51)) == fifty + [tooMany])
        #expect(messages(Array(repeating: true, count: 100_000)) == fifty + [tooMany])
        // Each would repeat what was given, but quotes only its beginning.
        let long = JSONValue.array([.string(String(repeating: "x", count: 100_000))])
        let few = messages([long, long, long])
        #expect(few.count == 3)
        for message in few { #expect(message.utf8.count < 1_000 && message.contains("xxx…")) }
    }

    @Test func aResultDependsOnWhatWasRead() throws {
        var service = try TestService.withBooks()
        let read = try service.run("{ author(name: \"Ada\") { bookList { title } } }").dependencies
        func touches(_ change: (inout Draft) -> Void) -> Bool {
            var draft = Draft(on: service.draft.snapshot)
            change(&draft)
            return read.isTouched(by: draft.changes, in: draft.snapshot)
        }
        #expect(touches { $0.write("b3", type: "Book", fields: [("title", .string("x"))]) })
        #expect(touches { $0.write("ada", type: "Author", fields: [("books", .append("b9"))]) })
        #expect(touches { $0.delete("b0") })
        #expect(!touches { $0.write("b3", type: "Book", fields: [("price", .double(9))]) })
        #expect(!touches { $0.write("b7", type: "Book", fields: [("title", .string("x"))]) })
        service.write("Book", "b3", ["title": .string("Book 3")])
        #expect(!touches { $0.write("b3", type: "Book", fields: [("title", .string("Book 3"))]) })
    }

    /// By the arguments, by an id that the client knows, and by a link.
    @Test(arguments: [
        "{ nodes(ids: [\"b0\", \"none\"]) { id } }", "{ book(id: \"none\") { id } }",
        "{ any(id: \"none\") { id } }", "{ book(id: \"b8\") { author { id } } }",
    ])
    func aResultDependsOnRecordsThatDoNotExistYet(query: String) throws {
        var service = try TestService.withBooks()
        service.write("Book", "b8", ["author": .link("none")])
        // Known by its id, and deleted: the same as never known.
        for isDeleted in [false, true] {
            if isDeleted {
                service.write("Book", "none", [:])
                service.draft.delete("none")
            }
            let read = try service.run(query).dependencies
            func touches(_ id: DataID) -> Bool {
                var draft = Draft(on: service.draft.snapshot)
                draft.write(id, type: "Book", fields: [])
                return read.isTouched(by: draft.changes, in: draft.snapshot)
            }
            #expect(touches("none"), "\(isDeleted)")
            #expect(!touches("another"), "\(isDeleted)")
        }
    }
}
