@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@Suite(.bounded) struct SchemaCompatibilityTests {
    private static let frame = """
        interface Node { id: ID! }
        type Query { node(id: ID!): Node }
        type A implements Node { id: ID! }
        type B implements Node { id: ID! }

        """

    private static let old = """
        type T implements Node { id: ID! name: String note: String count: Int color: Color a: A list: [A!]! tags: [String!] }
        enum Color { RED BLUE }
        """

    private static let records = """
        {"id":"a","type":"A"}
        {"id":"1","type":"T","fields":{"name":"x","note":"n","count":1,"color":"RED","a":{"ref":"a"},"list":{"refs":["a"]},"tags":{"value":["t"]}}}
        {"id":"2","type":"T","fields":{"name":"x","count":2}}
        """

    private func reasons(against new: String, knowsOld: Bool = true) throws -> [String] {
        let old = try ServiceUnderTest(Self.frame + Self.old, seed: Self.records)
        let schema = try ServiceSchema(Self.frame + new)
        do throws(IncompatibleSchema) {
            try schema.check(old.snapshot, writtenUnder: knowsOld ? old.schema : nil)
            return []
        } catch {
            return error.reasons
        }
    }

    @Test(arguments: [
        // The same, in another order, with more types and fields, and with fewer fields.
        """
        enum Color { BLUE RED GREEN }
        type T implements Node { id: ID! count: Int name: String! color: Color a: A list: [A!]! new: Int }
        """,
        // Wider types.
        """
        type T implements Node { id: ID! name: ID! note: Any count: Float! color: String a: AB list: [Node] tags: [String] }
        union AB = A | B
        scalar Any
        """,
        // A field that is found from now on.
        "type T implements Node { id: ID! name: String list: [A!]! count: Int @count(field: \"list\") }",
    ])
    func whatTheRecordsFitIsCompatible(new: String) throws {
        #expect(try reasons(against: new) == [])
        #expect(try reasons(against: new, knowsOld: false) == [])
    }

    @Test(arguments: [
        (
            "type U implements Node { id: ID! }",
            [
                "Type \"T\" is gone or does not implement Node any more, and there are records of it: \"1\" and 1 more."
            ]
        ),
        (
            "type T implements Node { id: ID! name: Int count: String note: [String] }",
            [
                "\"T.name\" was String and is Int, which does not fit \"1\" with \"x\" and 1 more.",
                "\"T.count\" was Int and is String, which does not fit \"1\" with 1 and 1 more.",
                "\"T.note\" was String and is [String], which does not fit \"1\" with \"n\".",
            ]
        ),
        (
            "type T implements Node { id: ID! note: String! new: Int! }",
            [
                "\"T.note\" was String and is String!, and it is missing in \"2\".",
                "\"T.new\" is Int!, and it is missing in \"1\" and 1 more.",
            ]
        ),
        (
            "type T implements Node { id: ID! name: String @unique count: Int @unique }",
            ["\"T.name\" is @unique, and its value is repeated in \"2\" with \"x\"."]
        ),
        (
            "type T implements Node { id: ID! color: Color } enum Color { BLUE }",
            ["\"T.color\" is Color, which does not fit \"1\" with \"RED\"."]
        ),
        (
            "type T implements Node { id: ID! a: B list: [B!]! tags: A }",
            [
                "\"T.a\" was A and is B, which does not fit \"1\" with {\"ref\":\"a\"}.",
                "\"T.list\" was [A!]! and is [B!]!, which does not fit \"1\" with {\"refs\":[\"a\"]}.",
                "\"T.tags\" was [String!] and is A, which does not fit \"1\" with {\"value\":[\"t\"]}.",
            ]
        ),
    ])
    func whatTheRecordsDoNotFitIsNamed(new: String, expected: [String]) throws {
        #expect(try reasons(against: new) == expected)
        #expect(try reasons(against: new, knowsOld: false).count == expected.count)
    }
}
