import GraphQLLanguage
import Testing

@testable import SchemaService

@Suite(.bounded) struct PredefinedDirectivesTests {
    @Test func theDocumentedTextIsTheOneThatIsUsed() throws {
        #expect(try Example.text("directives.graphql") == PredefinedDirectives.text)
    }

    @Test func onlyTheExecutableDirectiveIsShownToClients() throws {
        let schema = try ServiceSchema(try Example.text("todo.graphql")).schema
        let shown = schema.directiveDefinitions.filter { $0.origin == .predefined && !$0.isHidden }
        #expect(shown.map(\.name) == ["live"])
    }
}
