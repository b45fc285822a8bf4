import Testing

@testable import GraphQLLanguage

/// What graphql-js says of the same schemas, and what the September 2025 specification adds.
@Suite struct SchemaValidationTests {
    @Test func unknownTypesAreNamed() {
        expectSchemaErrors(
            in: #"""
                type Query { a: Foo b(c: Bar): Int }
                """#,
            #"""
            Unknown type "Bar". (1:26)
            Unknown type "Foo". (1:17)
            """#)
    }

    @Test func typesAndFieldsAreDefinedOnce() {
        expectSchemaErrors(
            in: #"""
                type Query { a: Int }
                type Query { b: Int }
                extend type Query { a: String }
                """#,
            #"""
            Field "Query.a" can only be defined once. (1:14, 3:21)
            There can be only one type named "Query". (1:6, 2:6)
            """#)
    }

    @Test func thereIsOneSchemaDefinition() {
        expectSchemaErrors(
            in: #"""
                schema { query: Q }
                schema { query: Q mutation: Q }
                type Q { a: Int }
                """#,
            #"""
            All root types must be different, "Q" type is used as query and mutation root types. (1:17, 2:29)
            Must provide only one schema definition. (2:1)
            There can be only one query type in schema. (1:10, 2:10)
            """#)
    }

    @Test func operationTypesAreGivenOnce() {
        expectSchemaErrors(
            in: #"""
                schema { query: Q query: Q }
                type Q { a: Int }
                """#,
            #"""
            There can be only one query type in schema. (1:10, 1:19)
            """#)
    }

    @Test func enumValuesAreDefinedOnce() {
        expectSchemaErrors(
            in: #"""
                enum E { A B A }
                extend enum E { B }
                type Query { e: E }
                """#,
            #"""
            Enum value "E.A" can only be defined once. (1:10, 1:14)
            Enum value "E.B" can only be defined once. (1:12, 2:17)
            """#)
    }

    @Test func argumentsAndDirectivesAreDefinedOnce() {
        expectSchemaErrors(
            in: #"""
                type Query { a(x: Int, y: Int, x: Int): Int }
                directive @d(a: Int, a: Int) on FIELD
                directive @d on FIELD
                """#,
            #"""
            Argument "@d(a:)" can only be defined once. (2:14, 2:22)
            Argument "Query.a(x:)" can only be defined once. (1:16, 1:32)
            There can be only one directive named "@d". (2:12, 3:12)
            """#)
    }

    @Test func appliedDirectivesAreKnownAllowedAndUnique() {
        expectSchemaErrors(
            in: #"""
                type Query { a: Int @foo @skip(if: true) @deprecated @deprecated(reson: "x") @deprecated(reason: "a", reason: "b") }
                """#,
            #"""
            Directive "@skip" may not be used on FIELD_DEFINITION. (1:26)
            The directive "@deprecated" can only be used once at this location. (1:42, 1:54)
            The directive "@deprecated" can only be used once at this location. (1:42, 1:78)
            There can be only one argument named "reason". (1:90, 1:103)
            Unknown argument "reson" on directive "@deprecated". Did you mean "reason"? (1:66)
            Unknown directive "@foo". (1:21)
            """#)
    }

    @Test func directiveArgumentsAreCompleteAndUnique() {
        expectSchemaErrors(
            in: #"""
                directive @r(a: Int!, b: In) on FIELD_DEFINITION | OBJECT
                input In { x: Int }
                type Query @r { a: Int @r(b: {x: 1, x: 2}) }
                """#,
            #"""
            Directive "@r" argument "a" of type "Int!" is required, but it was not provided. (3:12)
            Directive "@r" argument "a" of type "Int!" is required, but it was not provided. (3:24)
            There can be only one input field named "x". (3:31, 3:37)
            """#)
    }

    @Test func onlyDefinedTypesOfTheSameKindAreExtended() {
        expectSchemaErrors(
            in: #"""
                extend type Foo { a: Int }
                extend scalar Querry @deprecated
                extend input Query { a: Int }
                extend scalar Int @deprecated
                type Query { a: Int }
                """#,
            #"""
            Cannot extend non-input object type "Query". (5:1, 3:1)
            Cannot extend type "Foo" because it is not defined. (1:13)
            Cannot extend type "Int" because it is not defined. (4:15)
            Cannot extend type "Querry" because it is not defined. Did you mean "Query"? (2:15)
            Directive "@deprecated" may not be used on SCALAR. (2:22)
            Directive "@deprecated" may not be used on SCALAR. (4:19)
            Field "Query.a" can only be defined once. (5:14, 3:22)
            """#)
    }

    @Test func queryRootTypeIsNeeded() {
        expectSchemaErrors(
            in: #"""
                scalar S
                """#,
            #"""
            Query root type must be provided.
            """#)
    }

    @Test func queryRootTypeIsNeededInASchemaDefinition() {
        expectSchemaErrors(
            in: #"""
                schema { mutation: M }
                type M { a: Int }
                """#,
            #"""
            Query root type must be provided. (1:1)
            """#)
    }

    @Test func queryRootTypeIsAnObjectType() {
        expectSchemaErrors(
            in: #"""
                input Query { a: Int }
                """#,
            #"""
            Query root type must be Object type, it cannot be Query. (1:1)
            """#)
    }

    @Test func rootTypesAreObjectTypes() {
        expectSchemaErrors(
            in: #"""
                schema { query: Q mutation: M subscription: S }
                union Q = T
                scalar M
                interface S { a: Int }
                type T { a: Int }
                """#,
            #"""
            Mutation root type must be Object type if provided, it cannot be M. (1:29)
            Query root type must be Object type, it cannot be Q. (1:17)
            Subscription root type must be Object type if provided, it cannot be S. (1:45)
            """#)
    }

    @Test func namesDoNotStartWithTwoUnderscores() {
        expectSchemaErrors(
            in: #"""
                directive @__a(__b: Int, c: Query) on FIELD
                type Query { __a(__b: Int): Int }
                type __T { a: Int }
                enum E { __A }
                input I { __a: Int }
                """#,
            #"""
            Name "__A" must not begin with "__", which is reserved by GraphQL introspection. (4:10)
            Name "__T" must not begin with "__", which is reserved by GraphQL introspection. (3:1)
            Name "__a" must not begin with "__", which is reserved by GraphQL introspection. (1:1)
            Name "__a" must not begin with "__", which is reserved by GraphQL introspection. (2:14)
            Name "__a" must not begin with "__", which is reserved by GraphQL introspection. (5:11)
            Name "__b" must not begin with "__", which is reserved by GraphQL introspection. (1:16)
            Name "__b" must not begin with "__", which is reserved by GraphQL introspection. (2:18)
            The type of @__a(c:) must be Input Type but got: Query. (1:26)
            """#)
    }

    @Test func inputAndOutputTypesStandWhereTheyMay() {
        expectSchemaErrors(
            in: #"""
                type Query { a: I b(c: Query, d: [Query!]): [I!] }
                input I { a: Query b: [U] }
                union U = Query
                """#,
            #"""
            The type of I.a must be Input Type but got: Query. (2:14)
            The type of I.b must be Input Type but got: [U]. (2:23)
            The type of Query.a must be Output Type but got: I. (1:17)
            The type of Query.b must be Output Type but got: [I!]. (1:45)
            The type of Query.b(c:) must be Input Type but got: Query. (1:24)
            The type of Query.b(d:) must be Input Type but got: [Query!]. (1:34)
            """#)
    }

    @Test func typesHaveMembers() {
        expectSchemaErrors(
            in: #"""
                type Query
                interface I
                enum E
                input In
                union U
                """#,
            #"""
            Enum type E must define one or more values. (3:1)
            Input Object type In must define one or more fields. (4:1)
            Type I must define one or more fields. (2:1)
            Type Query must define one or more fields. (1:1)
            Union type U must define one or more member types. (5:1)
            """#)
    }

    @Test func whatIsRequiredIsNotDeprecated() {
        expectSchemaErrors(
            in: #"""
                type Query { a(b: Int! @deprecated): Int }
                input I { a: Int! @deprecated b: Int! = 3 @deprecated }
                directive @x(a: Int! @deprecated) on FIELD
                """#,
            #"""
            Required argument @x(a:) cannot be deprecated. (3:22, 3:17)
            Required argument Query.a(b:) cannot be deprecated. (1:24, 1:19)
            Required input field I.a cannot be deprecated. (2:19, 2:14)
            """#)
    }

    @Test func interfacesDoNotImplementThemselvesAndAreDeclaredOnce() {
        expectSchemaErrors(
            in: #"""
                type Query implements Query { a: Int }
                interface A implements A { a: Int }
                interface B implements C { a: Int }
                interface C implements B { a: Int }
                type D implements B & B { a: Int }
                """#,
            #"""
            Type A cannot implement itself because it would create a circular reference. (2:24)
            Type B cannot implement C because it would create a circular reference. (4:24, 3:24)
            Type C cannot implement B because it would create a circular reference. (3:24, 4:24)
            Type D can only implement B once. (5:19, 5:23)
            Type D must implement C because it is implemented by B. (3:24, 5:19, 5:23)
            Type Query must only implement Interface types, it cannot implement Query. (1:23)
            """#)
    }

    @Test func implementationsFitTheirInterfaces() {
        expectSchemaErrors(
            in: #"""
                interface I { a(x: Int, y: Int!): String b: I c: [Int!]! d: Int }
                type Query implements I { a(x: String, z: Int!): Int b: Query c: [Int] }
                """#,
            #"""
            Interface field I.a expects type String but Query.a is type Int. (1:35, 2:50)
            Interface field I.c expects type [Int!]! but Query.c is type [Int]. (1:50, 2:66)
            Interface field I.d expected but Query does not provide it. (1:58, 2:1)
            Interface field argument I.a(x:) expects type Int but Query.a(x:) is type String. (1:20, 2:32)
            Interface field argument I.a(y:) expected but Query.a does not provide it. (1:25, 2:27)
            Object field Query.a includes required argument z that is missing from the Interface field I.a. (2:40, 1:15)
            """#)
    }

    @Test func interfacesOfInterfacesAreDeclaredToo() {
        expectSchemaErrors(
            in: #"""
                interface Named { name: String }
                interface Node implements Named { id: ID! name: String }
                type Query implements Node { id: ID! name: String }
                """#,
            #"""
            Type Query must implement Named because it is implemented by Node. (2:27, 3:23)
            """#)
    }

    @Test func unionMembersAreDistinctObjectTypes() {
        expectSchemaErrors(
            in: #"""
                union U = Query | Query | S | I | U | In
                scalar S
                interface I { a: Int }
                input In { a: Int }
                type Query { a: Int }
                """#,
            #"""
            Union type U can only include Object types, it cannot include I. (1:31)
            Union type U can only include Object types, it cannot include In. (1:39)
            Union type U can only include Object types, it cannot include S. (1:27)
            Union type U can only include Object types, it cannot include U. (1:35)
            Union type U can only include type Query once. (1:11, 1:19)
            """#)
    }

    @Test func inputObjectsDoNotContainThemselvesWithoutEnd() {
        expectSchemaErrors(
            in: #"""
                input A { b: B! }
                input B { c: C! }
                input C { a: A! x: C! }
                type Query { a: Int }
                """#,
            #"""
            Cannot reference Input Object "A" within itself through a series of non-null fields: "b.c.a". (1:11, 2:11, 3:11)
            Cannot reference Input Object "C" within itself through a series of non-null fields: "x". (3:17)
            """#)
    }

    @Test func rootTypesAreDifferent() {
        expectSchemaErrors(
            in: #"""
                type Query { a: Int }
                extend schema { query: Query }
                extend schema { mutation: Query }
                """#,
            #"""
            All root types must be different, "Query" type is used as query and mutation root types. (2:24, 3:27)
            """#)
    }

    @Test func nearNamesAreSuggested() {
        expectSchemaErrors(
            in: #"""
                type Query { x: Strin y: Quer z: __Typ }
                """#,
            #"""
            Unknown type "Quer". Did you mean "Query"? (1:26)
            Unknown type "Strin". Did you mean "String"? (1:17)
            Unknown type "__Typ". Did you mean "__Type"? (1:34)
            """#)
    }

    @Test func operationsAreNotPartOfASchema() {
        expectSchemaErrors(
            in: #"""
                type Query { a: Int } 
                query { a }
                """#,
            #"""
            Operations and fragments cannot be part of a schema. (2:1)
            """#)
    }

    @Test func specifiedDirectivesStandWhereTheyMay() {
        expectSchemaErrors(
            in: #"""
                type Query { a(b: Int @specifiedBy(url: 3)): Int @include(if: true) }
                input I @oneOf { a: Int }
                scalar S @specifiedBy
                interface X @deprecated { a: Int }
                enum E { A @specifiedBy(url: "x") }
                schema @deprecated { query: Query }
                """#,
            #"""
            Directive "@deprecated" may not be used on INTERFACE. (4:13)
            Directive "@deprecated" may not be used on SCHEMA. (6:8)
            Directive "@include" may not be used on FIELD_DEFINITION. (1:50)
            Directive "@specifiedBy" argument "url" of type "String!" is required, but it was not provided. (3:10)
            Directive "@specifiedBy" may not be used on ARGUMENT_DEFINITION. (1:23)
            Directive "@specifiedBy" may not be used on ENUM_VALUE. (5:12)
            String cannot represent a non string value: 3 (1:41)
            """#)
    }

    @Test func implementationsAreCovariant() {
        expectSchemaErrors(
            in: #"""
                interface I { a: [I] b: I! c: U }
                union U = T
                type T implements I { a: [T!]! b: T! c: T }
                type Query implements I { a: I b: I c: U }
                """#,
            #"""
            Interface field I.a expects type [I] but Query.a is type I. (1:18, 4:30)
            Interface field I.b expects type I! but Query.b is type I. (1:25, 4:35)
            """#)
    }

    // MARK: Beyond graphql-js 16

    @Test func defaultValuesHaveTheTypeOfWhatTheyStandFor() {
        expectSchemaErrors(
            in: """
                type Query { a(b: Int! = null, c: [Int] = [1, "x"], d: In = { y: RED }): Int }
                input In { x: Int! y: Color = "RED" z: In = 3 }
                enum Color { RED GREEN }
                directive @d(a: Int = 2147483648) on FIELD
                """,
            """
            Query.a(b:) has invalid default value: Expected value of type "Int!", found null. (1:26)
            Query.a(c:) has invalid default value: Int cannot represent non-integer value: "x" (1:47)
            Query.a(d:) has invalid default value: Field "In.x" of required type "Int!" was not provided. (1:61)
            In.y has invalid default value: Enum "Color" cannot represent non-enum value: "RED". Did you mean the enum value "RED" or "GREEN"? (2:31)
            In.z has invalid default value: Expected value of type "In", found 3. (2:45)
            @d(a:) has invalid default value: Int cannot represent non 32-bit signed integer value: 2147483648 (4:23)
            """)
    }

    @Test func defaultValuesDoNotContainThemselves() {
        expectSchemaErrors(
            in: """
                type Query { a(b: A): Int }
                input A { a: A = {} }
                input B { c: C = {} ok: B = { c: null, ok: null } }
                input C { b: B = { ok: null } }
                """,
            """
            Invalid circular reference. The default value of Input Object field A.a references itself. (2:18)
            Invalid circular reference. The default value of Input Object field B.c references itself via the default values of: C.b. (3:18, 4:18)
            """)
    }

    @Test func oneOfFieldsAreNullableAndWithoutDefault() {
        expectSchemaErrors(
            in: "type Query { a(b: One): Int }\ninput One @oneOf { a: Int! b: Int = 3 c: Int }",
            """
            OneOf input field One.a must be nullable. (2:23)
            OneOf input field One.b cannot have a default value. (2:28)
            """)
    }

    @Test func implementationsAreDeprecatedOnlyWithTheirInterface() {
        expectSchemaErrors(
            in: """
                interface I { a: Int b: Int @deprecated }
                type Query implements I { a: Int @deprecated b: Int @deprecated }
                """,
            """
            Interface field I.a is not deprecated, so implementation field Query.a must not be deprecated. (2:34, 2:30)
            """)
    }

    @Test func predefinedDefinitionsCannotBeRedefined() {
        expectSchemaErrors(
            in: "type Query { a: Moment @now }\nenum Moment { A }\ndirective @now on FIELD",
            predefined: "enum Moment { CREATE } directive @now on FIELD_DEFINITION",
            """
            Type "Moment" already exists in the schema. It cannot also be defined in this type definition. (2:6)
            Directive "@now" already exists in the schema. It cannot be redefined. (3:12)
            """)
    }

    @Test func theTypeThatCarriesTheMetaFieldsIsNotThere() {
        expectSchemaErrors(
            in: "type Query { a: __MetaFields }",
            "Unknown type \"__MetaFields\". Did you mean \"__Field\"? (1:17)")
        expectSchemaErrors(
            in: "type Query { a: __MetaFields }\ntype __MetaFields { b: Int }",
            """
            Name "__MetaFields" must not begin with "__", which is reserved by GraphQL introspection. (2:1)
            """)
    }

    @Test func directiveArgumentsHaveTheRightValues() {
        expectSchemaErrors(
            in: "type Query { a: Int @create(type: Todo, parent: 3) }",
            predefined: "directive @create(type: String!, parent: String) on FIELD_DEFINITION",
            """
            String cannot represent a non string value: Todo (1:35)
            String cannot represent a non string value: 3 (1:49)
            """)
    }

    @Test func syntaxErrorsOfAllDocumentsAreReported() {
        let documents = [Source("type A {"), Source("type Query { a: Int }"), Source("type 3")]
        #expect(throws: SchemaErrors.self) { try Schema.build(documents) }
        do {
            _ = try Schema.build(documents)
        } catch {
            #expect(
                error.description == """
                    Syntax Error: Expected Name, found <EOF>. (1:9)
                    Syntax Error: Expected Name, found Int "3". (1:6)
                    """)
        }
    }
}

/// Expects exactly these errors, in any order of those that start at the same place.
private func expectSchemaErrors(
    in document: String, predefined: String = "", _ expected: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    do {
        let hidden = predefined.isEmpty ? [] : [Source(predefined)]
        _ = try Schema.build([Source(document)], predefined: hidden)
        #expect(expected.isEmpty, sourceLocation: sourceLocation)
    } catch {
        let found = error.errors.map(\.description)
        #expect(
            found.sorted() == expected.split(separator: "\n").map(String.init).sorted(),
            sourceLocation: sourceLocation)
    }
}
