import GraphQLLanguage
import RelayArtifacts
import RelayIR
import RelayJSON
import Testing

@testable import RelayReading
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// The root record has no type of its own in the store: readers say what it is, also those on an interface that the type
/// of queries implements.
@Suite(.bounded) struct RootTypeTests {
    private static let schema = """
        interface Node { id: ID! }
        union Anything = Query | Thing
        type Query implements Node { id: ID! version: Int thing: Thing }
        type Thing implements Node { id: ID! size: Int }
        """

    private let store = Store.quiet()
    private let documents: RelayDocuments

    init() throws {
        documents = try RelayDocuments(
            Document(
                parsing: """
                    query Q { ...Any_node ...Any_anything thing { ...Any_node ...Any_anything } }
                    fragment Any_node on Node {
                      __typename id ... on Query { version } ... on Thing { size }
                      ... on Query @alias(as: "query") { __typename } ... on Thing @alias(as: "thing") { __typename }
                    }
                    fragment Any_anything on Anything { __typename ... on Node { id } ... on Query { version } }
                    """),
            schema: Schema.build([Source(Self.schema)]))
        let operation = try #require(documents.operation("Q"))
        let response: JSONValue = [
            "data": [
                "__isNode": "Query", "__isAnything": "Query", "__typename": "Query", "id": "q",
                "version": 2,
                "thing": [
                    "__isNode": "Thing", "__isAnything": "Thing", "__typename": "Thing", "id": "t",
                    "size": 3,
                ],
            ]
        ]
        _ = try store.commitPayload(
            OperationDescriptor(operation.request, variables: [:]), response.bytes)
    }

    private func read(_ fragment: String, of id: DataID) throws -> JSONValue? {
        let fragment = try #require(documents.fragment(fragment)).node
        return store.lookup(ReaderSelector(fragment, dataID: id, variables: [:])).data?.json
    }

    @Test func aFragmentOnAnInterfaceOfTheRootReadsIt() throws {
        let root = try read("Any_node", of: .rootID)
        #expect(
            root == [
                "__typename": "Query", "id": "q", "version": 2, "query": ["__typename": "Query"],
                "thing": .null,
            ])
        #expect(
            try read("Any_node", of: "t") == [
                "__typename": "Thing", "id": "t", "size": 3, "query": .null,
                "thing": ["__typename": "Thing"],
            ])
    }

    @Test func aFragmentOnAUnionOfTheRootReadsIt() throws {
        let root = try read("Any_anything", of: .rootID)
        #expect(
            root == ["__typename": "Query", "id": "q", "version": 2])
        #expect(try read("Any_anything", of: "t") == ["__typename": "Thing", "id": "t"])
    }
}
