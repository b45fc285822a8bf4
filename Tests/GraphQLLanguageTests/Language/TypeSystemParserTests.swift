import Testing

@testable import GraphQLLanguage

private func error(_ text: String) -> String? {
    do {
        _ = try Document(parsing: text)
        return nil
    } catch {
        return "\(error)"
    }
}

private func type(_ text: String) throws -> TypeDefinition {
    let document = try Document(parsing: text)
    guard case .type(let definition) = document.definitions[0] else {
        throw DocumentError("not a type")
    }
    return definition
}

@Suite struct TypeSystemParserTests {
    @Test func objectTypeHasInterfacesFieldsArgumentsAndDirectives() throws {
        let definition = try type(
            """
            "A thing"
            type Thing implements & Node & Named @key(fields: "id") {
              \"\"\"
              Its id
              \"\"\"
              id: ID!
              list("size" first: Int = 3 @old, filter: [F!]): [Thing]! @deprecated
            }
            """)
        #expect(definition.name.value == "Thing")
        #expect(definition.description?.value == "A thing")
        #expect(!definition.isExtension)
        #expect(definition.directives[0].argument("fields") != nil)
        guard case .object(let interfaces, let fields) = definition.body else {
            Issue.record("not an object type")
            return
        }
        #expect(interfaces.map(\.value) == ["Node", "Named"])
        #expect(fields.map(\.name.value) == ["id", "list"])
        #expect(fields[0].description?.value == "Its id")
        #expect(fields[1].type.description == "[Thing]!")
        #expect(fields[1].arguments.map(\.name.value) == ["first", "filter"])
        #expect(fields[1].arguments[0].directives[0].name.value == "old")
        #expect(fields[1].directives[0].name.value == "deprecated")
    }

    @Test func everyKindOfTypeParsesWithAndWithoutABody() throws {
        for text in [
            "scalar A", "type A", "interface A implements B", "union A", "enum A", "input A",
            "union A = | B | C", "enum A { B @d C }", "input A @oneOf { b: Int = 1 }",
            "interface A implements B & C { b: D }",
        ] {
            #expect(try type(text).name.value == "A")
        }
    }

    @Test func extensionsAddOneThingAtLeast() throws {
        for text in [
            "extend scalar A @d", "extend type A implements B", "extend type A { b: C }",
            "extend interface A @d", "extend union A = B", "extend enum A { B }",
            "extend input A { b: C }",
        ] {
            #expect(try type(text).isExtension)
        }
        #expect(error("extend scalar A") == "Syntax Error: Unexpected <EOF>. (1:16)")
        #expect(error("extend type A\n") == "Syntax Error: Unexpected <EOF>. (2:1)")
        #expect(
            error("extend union A scalar B") == "Syntax Error: Unexpected Name \"scalar\". (1:16)")
        #expect(error("extend schema") == "Syntax Error: Unexpected <EOF>. (1:14)")
        #expect(
            error("extend directive @a on FIELD")
                == "Syntax Error: Unexpected Name \"directive\". (1:8)")
    }

    @Test func directiveDefinitionKnowsItsLocations() throws {
        let document = try Document(
            parsing: "directive @a(b: Int) repeatable on\n | FIELD | VARIABLE_DEFINITION")
        guard case .directive(let directive) = document.definitions[0] else {
            Issue.record("not a directive")
            return
        }
        #expect(directive.isRepeatable)
        #expect(directive.locations == [.field, .variableDefinition])
        #expect(
            error("directive @foo on FIELD | INCORRECT_LOCATION")
                == "Syntax Error: Unexpected Name \"INCORRECT_LOCATION\". (1:27)")
    }

    @Test(arguments: [
        (
            "enum A { true }",
            "Name \"true\" is reserved and cannot be used for an enum value. (1:10)"
        ),
        (
            "enum A { null }",
            "Name \"null\" is reserved and cannot be used for an enum value. (1:10)"
        ),
        ("type A {}", "Expected Name, found \"}\". (1:9)"),
        ("type A { b: }", "Expected Name, found \"}\". (1:13)"),
        ("type A implements { b: C }", "Expected Name, found \"{\". (1:19)"),
        ("type A implements B C { b: C }", "Unexpected Name \"C\". (1:21)"),
        ("union A = B |", "Expected Name, found <EOF>. (1:14)"),
        ("union A = || B", "Expected Name, found \"|\". (1:12)"),
        ("input A { b(c: Int): D }", "Expected \":\", found \"(\". (1:12)"),
        ("schema { foo: Bar }", "Unexpected Name \"foo\". (1:10)"),
        ("schema", "Expected \"{\", found <EOF>. (1:7)"),
        ("type A { b(c: Int = $d): E }", "Unexpected variable \"$d\" in constant value. (1:21)"),
    ]) func syntaxErrorsAreGraphqlJs(_ text: String, _ message: String) {
        #expect(error(text) == "Syntax Error: " + message)
    }
}
