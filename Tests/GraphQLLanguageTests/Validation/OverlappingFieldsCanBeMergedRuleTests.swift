import Testing

@testable import GraphQLLanguage

@Suite struct OverlappingFieldsCanBeMergedRuleTests {
    @Test func theSameFieldTwiceIsOne() {
        expectErrors(
            in: """
                { dog { ...A name name nickname: name nickname: name isAtLocation(x: 1, y: 2) isAtLocation(y: 2, x: 1) } }
                fragment A on Dog { name @skip(if: true) barks barks }
                """,
            "")
    }

    @Test func differentFieldsConflictUnderOneName() {
        expectErrors(
            in: """
                { dog { fido: name fido: nickname } }
                """,
            """
            Fields "fido" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:20)
            """)
    }

    @Test func aliasesConflictWithFieldNames() {
        expectErrors(
            in: """
                { dog { name: nickname name } }
                """,
            """
            Fields "name" conflict because "nickname" and "name" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:24)
            """)
    }

    @Test func differingArgumentsConflict() {
        expectErrors(
            in: """
                { dog { doesKnowCommand(dogCommand: SIT) doesKnowCommand(dogCommand: HEEL) isAtLocation(x: 1) isAtLocation(x: 1, y: 2) name name(surname: true) } }
                """,
            """
            Fields "doesKnowCommand" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:42)
            Fields "isAtLocation" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:76, 1:95)
            Fields "name" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:120, 1:125)
            """)
    }

    @Test func argumentsOfAnyShapeAreCompared() {
        expectErrors(
            in: """
                { complicatedArgs { complexArgField(complexArg: {requiredField: true, intField: 1}) complexArgField(complexArg: {intField: 1, requiredField: true}) anyArgField(any: {a: [1, 2]}) anyArgField(any: {a: [2, 1]}) } }
                """,
            """
            Fields "anyArgField" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:149, 1:179)
            """)
    }

    /// As they would be printed: a number by its digits, a text by how it is written, too.
    @Test(arguments: [
        ("1", "1", true), ("1", "1.0", false), ("1.0", "1.00", false),
        ("\"a\"", "\"\\u0061\"", true), ("\"a\"", "\"\"\"a\"\"\"", false), ("\"a\"", "a", false),
        ("\"1\"", "1", false), ("true", "true", true), ("true", "false", false),
        ("null", "null", true),
        ("null", "\"null\"", false), ("A", "A", true), ("[1, [a]]", "[1, [a]]", true),
        ("[1]", "1", false), ("{a: 1, b: \"x\"}", "{b: \"x\", a: 1}", true),
        ("{a: 1}", "{a: 2}", false), ("\"\u{e9}\"", "\"e\u{301}\"", false),
    ])
    func valuesAreComparedAsTheyAreWritten(value: String, other: String, areSame: Bool) throws {
        let document = try Document(
            parsing: "{ complicatedArgs { anyArgField(any: \(value)) anyArgField(any: \(other)) } }"
        )
        #expect(document.validate(against: animals).isEmpty == areSame)
    }

    @Test func variablesAreComparedByName() {
        expectErrors(
            in: """
                query Q($a: Boolean, $b: Boolean) { dog { name(surname: $a) name(surname: $b) } }
                """,
            """
            Fields "name" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:43, 1:61)
            """)
    }

    @Test func differentObjectTypesDoNotMeet() {
        expectErrors(
            in: """
                { pet { ... on Dog { a: name v: barkVolume } ... on Cat { a: nickname v: meowsVolume } } }
                """,
            "")
    }

    @Test func shapesMustAgreeAllTheSame() {
        expectErrors(
            in: """
                { pet { ... on Dog { a: barkVolume } ... on Cat { a: meows } } }
                """,
            """
            Fields "a" conflict because they return conflicting types "Int" and "Boolean". Use different aliases on the fields to fetch both if this was intentional. (1:22, 1:51)
            """)
    }

    @Test func interfacesMeetEveryType() {
        expectErrors(
            in: """
                { pet { name ... on Dog { name: nickname } ... on Cat { name(surname: true) } } }
                """,
            """
            Fields "name" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:27)
            Fields "name" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:57)
            """)
    }

    @Test func fragmentsAreLookedInto() {
        expectErrors(
            in: """
                { dog { ...A ...B } }
                fragment A on Dog { x: name }
                fragment B on Dog { x: barks }
                """,
            """
            Fields "x" conflict because "name" and "barks" are different fields. Use different aliases on the fields to fetch both if this was intentional. (2:21, 3:21)
            """)
    }

    @Test func nestedFragmentsAreLookedInto() {
        expectErrors(
            in: """
                { dog { ...A ...B } }
                fragment A on Dog { ...C }
                fragment C on Dog { x: name }
                fragment B on Dog { ...D }
                fragment D on Dog { x: barks }
                """,
            """
            Fields "x" conflict because "name" and "barks" are different fields. Use different aliases on the fields to fetch both if this was intentional. (3:21, 5:21)
            """)
    }

    @Test func conflictsBelowAreReportedWithTheirWay() {
        expectErrors(
            in: """
                { dog { name } dog { name: nickname barks: name } human(id: 1) { relatives { a: name } } human(id: 1) { relatives { a: iq } relatives { a: name } } }
                """,
            """
            Fields "dog" conflict because subfields "name" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:3, 1:9, 1:16, 1:22)
            Fields "human" conflict because subfields "relatives" conflict because subfields "a" conflict because "name" and "iq" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:51, 1:66, 1:78, 1:90, 1:105, 1:117)
            Fields "relatives" conflict because subfields "a" conflict because "iq" and "name" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:105, 1:117, 1:125, 1:137)
            """)
    }

    @Test func allConflictsBelowAreInOneMessage() {
        expectErrors(
            in: """
                { f: dog { x: name y: nickname } f: dog { x: barks y: barkVolume } }
                """,
            """
            Fields "f" conflict because subfields "x" conflict because "name" and "barks" are different fields and subfields "y" conflict because "nickname" and "barkVolume" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:3, 1:12, 1:20, 1:34, 1:43, 1:52)
            """)
    }

    @Test func deepConflictsAreReportedAtTheNearestCommonField() {
        expectErrors(
            in: """
                { dog { mother { father { x: name } mother { y: name } father { x: nickname } } mother { z: name } } }
                """,
            """
            Fields "father" conflict because subfields "x" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:18, 1:27, 1:56, 1:65)
            """)
    }

    @Test func conflictsInUnusedFragmentsCount() {
        expectErrors(
            in: """
                { dog { name } }
                fragment A on Dog { x: name x: nickname }
                """,
            """
            Fragment "A" is never used. (2:1)
            Fields "x" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (2:21, 2:29)
            """)
    }

    @Test func cyclesOfFragmentsEnd() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { mother { ...A x: name } ...B }
                fragment B on Dog { mother { x: nickname } ...A }
                """,
            """
            Fields "mother" conflict because subfields "x" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (2:21, 2:35, 3:21, 3:30)
            Cannot spread fragment "A" within itself. (2:30)
            Cannot spread fragment "A" within itself via "B". (2:45, 3:44)
            Fields "mother" conflict because subfields "x" conflict because "nickname" and "name" are different fields. Use different aliases on the fields to fetch both if this was intentional. (3:21, 3:30, 2:21, 2:35)
            """)
    }

    @Test func wrappersMustAgree() {
        expectErrors(
            in: """
                { human(id: 1) { a: pets { name } a: relatives { name } } x: dogs { name } x: dog { name } n: iq n: iq }
                """,
            """
            Fields "a" conflict because "pets" and "relatives" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:18, 1:35)
            Fields "x" conflict because "dogs" and "dog" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:59, 1:76)
            """)
    }

    // MARK: Hostile documents

    @Test func thousandsOfEqualFieldsAreComparedOnce() throws {
        let text = "{ " + String(repeating: "dog { name mother { name } } ", count: 2_000) + "}"
        #expect(try Document(parsing: text).validate(against: animals).isEmpty)
    }

    @Test func fragmentsThatDoubleAtEveryLevelAreCheckedOnce() throws {
        let levels = (0..<60).map {
            "fragment F\($0) on Dog { mother { ...F\($0 + 1) } father { ...F\($0 + 1) } }"
        }
        let text = "{ dog { ...F0 } } \(levels.joined()) fragment F60 on Dog { name }"
        #expect(try Document(parsing: text).validate(against: animals).isEmpty)
    }

    @Test func fieldsThatMeetSeveralTypesAtEveryLevelAreCheckedOnce() throws {
        let schema = try Schema.build(
            """
            interface Node { next: Node x: Int }
            type A implements Node { next: Node x: Int }
            type B implements Node { next: Node x: Int }
            type Query { node: Node }
            """)
        var selection = "x"
        for _ in 0..<60 {
            selection = "... on A { next { x } } ... on B { next { x } } next { \(selection) }"
        }
        let document = try Document(parsing: "{ node { \(selection) } }")
        #expect(document.validate(against: schema).isEmpty)
    }

    @Test func theFirstErrorsOfThousandsOfConflictsAreReported() throws {
        let fields = (0..<3_000).map { "a: human(id: \($0)) { name }" }
        let errors = try Document(parsing: "{ \(fields.joined(separator: " ")) }")
            .validate(against: animals)
        #expect(errors.count == 101)
        #expect(
            errors.last?.message
                == "Too many validation errors, error limit reached. Validation aborted.")
    }

    @Test func workBeyondTheLimitIsRefused() throws {
        // Every concrete type meets every field of the interface.
        let fields = (0..<100).map { _ in "... on Dog { name } ... on Cat { name } name" }
        let document = try Document(parsing: "{ pet { \(fields.joined(separator: " ")) } }")
        #expect(document.validate(against: animals).isEmpty)
        let limits = ValidationLimits(maximumFieldComparisons: 300)
        #expect(
            document.validate(against: animals, limits: limits) == [
                DocumentError(
                    "Fields cannot be compared in 300 steps. Validation aborted.",
                    code: "LIMIT_EXCEEDED")
            ])
    }

    @Test func aConflictBeyondTheLimitOfTheSearchIsReportedAsItIsKnown() throws {
        // Two fields of cats conflict; all those of dogs come before them.
        let dogs = String(repeating: "... on Dog { name } ", count: 40)
        let text = "{ pet { \(dogs) ... on Cat { name name: nickname } } }"
        let limits = ValidationLimits(maximumFieldComparisons: 200)
        let errors = try Document(parsing: text).validate(against: animals, limits: limits)
        #expect(
            errors.map(\.message) == [
                "Fields \"name\" conflict because \"name\" and \"nickname\" are different fields. "
                    + "Use different aliases on the fields to fetch both if this was intentional."
            ])
    }

    @Test func fragmentsInALongChainDoNotUseUpTheStack() throws {
        let chain = (0..<5_000).map { "fragment F\($0) on Dog { mother { ...F\($0 + 1) } }" }
        let text =
            "{ dog { ...F0 } } \(chain.joined(separator: " ")) "
            + "fragment F5000 on Dog { name }"
        #expect(try Document(parsing: text).validate(against: animals).isEmpty)
    }
}
