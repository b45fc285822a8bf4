import Foundation
import GeneratedModules
import GraphQLLanguage
import Relay
import RelayArtifacts
import RelayCompiler
import RelayIR
import Testing

/// The generated code of the tests is what the compiler makes of the documents beside it; that it compiles without
/// warnings is checked by the build.
///
/// `RELAY_WRITE_FIXTURES=1` writes it again.
@Suite struct RegenerationTests {
    @Test func theTodoClientIsWhatTheCompilerMakes() throws { try check(.todoApp) }

    @Test func theFilmsClientIsWhatTheCompilerMakes() throws { try check(.films) }

    @Test func thePokedexClientIsWhatTheCompilerMakes() throws { try check(.pokedex) }

    /// Names that mean something in Swift, and shapes that are rare.
    @Test func theAdversarialDocumentsAreWhatTheCompilerMakes() throws {
        try check(Self.adversarial)
    }

    private static let adversarial = GeneratedModule(
        "GeneratedCodeTests/Adversarial",
        schema: ["Tests/GeneratedCodeTests/Adversarial/Schema/schema.graphql"],
        options: GenerateOptions(scalars: ["DateTime": "Instant", "Times": "[String: [Instant]]"]))

    /// What Swift reads in generated literals is what the compiler wrote there.
    @Test func compiledLiteralsAreTheirArtifacts() throws {
        let documents = try Self.adversarial.documents()
        for (name, node) in [
            ("AdvTextMutation", AdvTextMutation.node), ("AdvQuery", AdvQuery.node),
            ("AdvMutation", AdvMutation.node), ("AdvCountQuery", AdvCountQuery.node),
        ] {
            #expect(node.artifact == documents.operation(name)?.request.artifact)
        }
        #expect(AdvTextMutation.node.params.text?.contains("\\\"\\\"\\\"##") == true)
        #expect(Adv_node.node.artifact == documents.fragment("Adv_node")?.node.artifact)
        #expect(Adv_count.node.artifact == documents.fragment("Adv_count")?.node.artifact)
    }

    @Test func theFixturesAreWhatTheCompilerMakes() throws { try check(.todoFixtures) }

    @Test func theMutationPagesTypesAreWhatTheCompilerMakes() throws {
        try check(
            .todo("Seeds/MutationPage", adding: ["Tests/Seeds/MutationPage/Schema/item.graphql"]))
    }

    @Test func theViewPagesTypesAreWhatTheCompilerMakes() throws {
        try check(
            .todo("Seeds/ViewPage", adding: ["Tests/Seeds/ViewPage/Schema/item.graphql"]))
    }

    @Test func theTodoClientsTypesAreWhatTheCompilerMakes() throws {
        try check(.todo("../Sources/TodoViews", adding: ["docs/examples/todo.client.graphql"]))
    }

    @Test func theArticlesTypesAreWhatTheCompilerMakes() throws {
        try check(.todo("RelayNetworkTests/Articles"))
    }

    @Test func theTypesOfAProgramAreWhatTheCompilerMakes() throws {
        try check(.todo("ClientProgram"))
    }

    @Test func theFirstAppsTypesAreWhatTheCompilerMakes() throws {
        try check(.todo("FirstApp/Sources/Todos"))
    }

    @Test func theTerminalAppsTypesAreWhatTheCompilerMakes() throws {
        try check(.todo("TerminalApp/Sources/TerminalTodos"))
    }

    private func check(_ module: GeneratedModule) throws {
        if ProcessInfo.processInfo.environment["RELAY_WRITE_FIXTURES"] != nil {
            try module.write()
        }
        let (code, committed) = (try module.code(), try module.committedCode())
        #expect(!code.isEmpty)
        for name in Set(code.keys).union(committed.keys).sorted() {
            let isSame = code[name] == committed[name]
            #expect(
                isSame,
                "\(module.folder)/\(name) is not what the compiler makes; RELAY_WRITE_FIXTURES=1 writes it."
            )
        }
    }
}
