import Testing

@testable import GraphQLLanguage

@Suite struct ValuesOfCorrectTypeRuleTests {
    @Test func literalsOfEachTypeAreFine() {
        expectErrors(
            in: #"""
                { complicatedArgs { a: intArgField(intArg: -2) b: stringArgField(stringArg: """x""") c: booleanArgField(booleanArg: true) d: floatArgField(floatArg: 1) e: floatArgField(floatArg: 1.1e2) f: idArgField(idArg: 1) g: idArgField(idArg: "x") h: enumArgField(enumArg: BROWN) i: stringListArgField(stringListArg: ["a", null]) j: stringListArgField(stringListArg: "a") k: intArgField(intArg: null) l: anyArgField(any: {a: [1, {b: ENUM}]}) m: listList(a: [[1], null, 2]) } }
                """#,
            "")
    }

    @Test func stringsAreStrings() {
        expectErrors(
            in: """
                { complicatedArgs { a: stringArgField(stringArg: 1) b: stringArgField(stringArg: 1.0) c: stringArgField(stringArg: true) d: stringArgField(stringArg: BAR) e: stringArgField(stringArg: ["x"]) f: stringArgField(stringArg: {x: 1}) } }
                """,
            """
            String cannot represent a non string value: 1 (1:50)
            String cannot represent a non string value: 1.0 (1:82)
            String cannot represent a non string value: true (1:116)
            String cannot represent a non string value: BAR (1:151)
            String cannot represent a non string value: ["x"] (1:185)
            String cannot represent a non string value: {x: 1} (1:221)
            """)
    }

    @Test func integersHave32Bits() {
        expectErrors(
            in: """
                { complicatedArgs { a: intArgField(intArg: "3") b: intArgField(intArg: 829384293849283498239482938) c: intArgField(intArg: FOO) d: intArgField(intArg: 3.0) e: intArgField(intArg: -2147483649) f: intArgField(intArg: 2147483647) } }
                """,
            """
            Int cannot represent non-integer value: "3" (1:44)
            Int cannot represent non 32-bit signed integer value: 829384293849283498239482938 (1:72)
            Int cannot represent non-integer value: FOO (1:124)
            Int cannot represent non-integer value: 3.0 (1:152)
            Int cannot represent non 32-bit signed integer value: -2147483649 (1:180)
            """)
    }

    @Test func floatsAreNumbers() {
        expectErrors(
            in: """
                { complicatedArgs { a: floatArgField(floatArg: "3.333") b: floatArgField(floatArg: true) c: floatArgField(floatArg: FOO) } }
                """,
            """
            Float cannot represent non numeric value: "3.333" (1:48)
            Float cannot represent non numeric value: true (1:84)
            Float cannot represent non numeric value: FOO (1:117)
            """)
    }

    @Test func floatsAreFinite() {
        expectErrors(
            in: """
                { complicatedArgs { a: floatArgField(floatArg: 1e400) b: floatArgField(floatArg: -1e9999) c: floatArgField(floatArg: 1e308) } }
                """,
            """
            Float cannot represent non numeric value: 1e400 (1:48)
            Float cannot represent non numeric value: -1e9999 (1:82)
            """)
    }

    @Test func booleansAreTrueOrFalse() {
        expectErrors(
            in: """
                { complicatedArgs { a: booleanArgField(booleanArg: 2) b: booleanArgField(booleanArg: 1.0) c: booleanArgField(booleanArg: "true") d: booleanArgField(booleanArg: TRUE) } }
                """,
            """
            Boolean cannot represent a non boolean value: 2 (1:52)
            Boolean cannot represent a non boolean value: 1.0 (1:86)
            Boolean cannot represent a non boolean value: "true" (1:122)
            Boolean cannot represent a non boolean value: TRUE (1:161)
            """)
    }

    @Test func idsAreStringsOrIntegers() {
        expectErrors(
            in: """
                { complicatedArgs { a: idArgField(idArg: 1.0) b: idArgField(idArg: true) c: idArgField(idArg: SOMETHING) } }
                """,
            """
            ID cannot represent a non-string and non-integer value: 1.0 (1:42)
            ID cannot represent a non-string and non-integer value: true (1:68)
            ID cannot represent a non-string and non-integer value: SOMETHING (1:95)
            """)
    }

    @Test func enumValuesAreWrittenAsTheyAre() {
        expectErrors(
            in: """
                { complicatedArgs { a: enumArgField(enumArg: 2) b: enumArgField(enumArg: 1.0) c: enumArgField(enumArg: "BROWN") d: enumArgField(enumArg: true) e: enumArgField(enumArg: JUGGLE) f: enumArgField(enumArg: brown) } }
                """,
            """
            Enum "FurColor" cannot represent non-enum value: 2. (1:46)
            Enum "FurColor" cannot represent non-enum value: 1.0. (1:74)
            Enum "FurColor" cannot represent non-enum value: "BROWN". Did you mean the enum value "BROWN"? (1:104)
            Enum "FurColor" cannot represent non-enum value: true. (1:138)
            Value "JUGGLE" does not exist in "FurColor" enum. (1:169)
            Value "brown" does not exist in "FurColor" enum. Did you mean the enum value "BROWN"? (1:202)
            """)
    }

    @Test func listItemsAreChecked() {
        expectErrors(
            in: """
                { complicatedArgs { a: stringListArgField(stringListArg: ["one", 2]) b: stringListArgField(stringListArg: 1) c: stringListNonNullArgField(stringListNonNullArg: ["a", null]) d: listList(a: [[1, null], "x"]) } }
                """,
            """
            String cannot represent a non string value: 2 (1:66)
            String cannot represent a non string value: 1 (1:107)
            Expected value of type "String!", found null. (1:167)
            Expected value of type "Int!", found null. (1:194)
            Int cannot represent non-integer value: "x" (1:201)
            """)
    }

    @Test func nonNullsAreNotNull() {
        expectErrors(
            in: """
                { complicatedArgs { a: multipleReqs(req1: null, req2: "x") } }
                """,
            """
            Expected value of type "Int!", found null. (1:43)
            Int cannot represent non-integer value: "x" (1:55)
            """)
    }

    @Test func inputObjectsHaveTheirFields() {
        expectErrors(
            in: """
                { complicatedArgs { a: complexArgField(complexArg: {intField: 4}) b: complexArgField(complexArg: {requiredField: true, stringListField: ["one", 2]}) c: complexArgField(complexArg: {requiredField: true, nonNullField: null}) d: complexArgField(complexArg: {requiredField: true, invalidField: "x", intFeld: 1}) e: complexArgField(complexArg: [{requiredField: 1}]) f: complexArgField(complexArg: "x") g: complexArgField(complexArg: {requiredField: true, nested: {requiredField: 3}}) } }
                """,
            """
            Field "ComplexInput.requiredField" of required type "Boolean!" was not provided. (1:52)
            String cannot represent a non string value: 2 (1:145)
            Expected value of type "Boolean!", found null. (1:217)
            Field "invalidField" is not defined by type "ComplexInput". Did you mean "intField"? (1:277)
            Field "intFeld" is not defined by type "ComplexInput". Did you mean "intField"? (1:296)
            Expected value of type "ComplexInput", found [{requiredField: 1}]. (1:340)
            Expected value of type "ComplexInput", found "x". (1:393)
            Boolean cannot represent a non boolean value: 3 (1:475)
            """)
    }

    @Test func directiveArgumentsAreChecked() {
        expectErrors(
            in: """
                { dog @include(if: "yes") { name @skip(if: ENUM) } }
                """,
            """
            Boolean cannot represent a non boolean value: "yes" (1:20)
            Boolean cannot represent a non boolean value: ENUM (1:44)
            """)
    }

    @Test func defaultValuesOfVariablesAreChecked() {
        expectErrors(
            in: """
                query Q($a: Int = "one", $b: String = 4, $c: ComplexInput = "x", $d: ComplexInput = {requiredField: 123}, $e: Int! = null, $f: [String] = ["one", 2]) { complicatedArgs { anyArgField(any: [$a, $b, $c, $d, $e, $f]) } }
                """,
            """
            Variable "$a" of type "Int" used in position expecting type "Any". (1:9, 1:189)
            Int cannot represent non-integer value: "one" (1:19)
            Variable "$b" of type "String" used in position expecting type "Any". (1:26, 1:193)
            String cannot represent a non string value: 4 (1:39)
            Variable "$c" of type "ComplexInput" used in position expecting type "Any". (1:42, 1:197)
            Expected value of type "ComplexInput", found "x". (1:61)
            Variable "$d" of type "ComplexInput" used in position expecting type "Any". (1:66, 1:201)
            Boolean cannot represent a non boolean value: 123 (1:101)
            Variable "$e" of type "Int!" used in position expecting type "Any". (1:107, 1:205)
            Expected value of type "Int!", found null. (1:118)
            Variable "$f" of type "[String]" used in position expecting type "Any". (1:124, 1:209)
            String cannot represent a non string value: 2 (1:147)
            """)
    }

    @Test func oneOfObjectsHaveOneFieldThatIsNotNull() {
        expectErrors(
            in: """
                { a: choose(by: {id: "1"}) b: choose(by: {}) c: choose(by: {id: "1", name: "x"})
                d: choose(by: {name: null}) e: choose(by: {id: 1.5}) }
                """, of: oneOf,
            """
            OneOf Input Object "By" must specify exactly one key. (1:42)
            OneOf Input Object "By" must specify exactly one key. (1:60)
            Field "By.name" must be non-null. (2:15)
            ID cannot represent a non-string and non-integer value: 1.5 (2:48)
            """)
    }
}
