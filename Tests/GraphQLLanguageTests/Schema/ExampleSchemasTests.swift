import Testing

@testable import GraphQLLanguage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The schemas in `docs/examples`, with what the schema service predefines.
@Suite struct ExampleSchemasTests {
    @Test(arguments: ["todo", "tracker"])
    func examplesBuildAndSurviveIntrospection(_ name: String) throws {
        let schema = try Schema.build(
            [try example(name)], predefined: [try example("directives")])
        let printed = schema.printed()
        #expect(printed.contains("directive @live on FIELD_DEFINITION | QUERY"))
        #expect(!printed.contains("@lookup") && !printed.contains("Constant"))
        let answer = try IntrospectionExecutor(schema, Schema.introspectionQuery).run()
        #expect(try Schema.build(introspection: answer).printed() == printed)
        #expect(try Schema.build(printed).printed() == printed)
    }

    @Test func behaviourIsReadFromDirectivesOnFields() throws {
        let schema = try Schema.build(
            [try example("todo")], predefined: [try example("directives")])
        let field = try #require(schema.type(named: "Mutation")?.field("addTodo"))
        let create = try #require(field.directives.named("create"))
        #expect(create.arguments.map(\.name.value) == ["type", "into", "parent"])
        #expect(create.argument("into")?.printed() == "\"User.todos\"")
    }

    private func example(_ name: String) throws -> Source {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let path = "/\(root)/docs/examples/\(name).graphql"
        let file = try #require(fopen(path, "r"), "\(path) cannot be opened")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Source(utf8: Array(bytes[..<count]), name: "\(name).graphql")
    }
}
