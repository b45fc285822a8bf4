import Foundation
import GraphQLLanguage
import RelayIR

/// The schemas in `docs/examples`.
enum ExampleSchema {
    static func todo() throws -> Schema { try build("todo") }
    static func tracker() throws -> Schema { try build("tracker") }

    private static func build(_ name: String) throws -> Schema {
        let deferDirective = Source(
            "directive @defer(label: String, if: Boolean = true) on FRAGMENT_SPREAD | INLINE_FRAGMENT"
        )
        return try Schema.build(
            [try read(name), deferDirective], predefined: [try read("directives")])
    }

    private static func read(_ name: String) throws -> Source {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "docs/examples/\(name).graphql")
        return Source(utf8: Array(try Data(contentsOf: file)), name: "\(name).graphql")
    }
}

func compile(_ text: String, _ schema: Schema) throws -> RelayDocuments {
    try RelayDocuments(Document(parsing: text), schema: schema)
}
