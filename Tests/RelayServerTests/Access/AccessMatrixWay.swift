import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import RelayServer
@testable import StoreEngine

/// The ways by which something of a record may come to a viewer.
enum AccessMatrixWay: String, CaseIterable, Sendable {
    // Answers to queries.
    case node, nodes, lookupByID, lookupByUnique, link, nonNullLink, interfaceLink, unionLink
    case plainList, connection, typeList, everyRecord, interfaceList, unionList
    case firstPage, lastPage, pageAfter, count, countWhere, filterByValue, filterByRecord
    case visitLimit, persisted, pastFromMemory, pastFromLog
    // Answers to mutations.
    case payload, payloadEdge, inputNamesRecord, inputNamesUnique, linkInput, linkFieldInput
    case moveInput, neighbourInput, deleteInput, repeatedAnswer, answerOfAnother
    // Streams.
    case liveQuery, liveLookup, liveLink, liveCount, liveField, patches, patchesOfLink
    case event, eventPatches, eventOfLink, eventArgument, eventArgumentOfLink, deletion, linkedEvent
    case resumedFromMemory, resumedFromLog, expected, expectedPatches, expectedElsewhere
    case eventStream

    /// Texts since the last look.
    typealias Look = () async throws -> String

    /// Commits are not kept in memory.
    var readsTheLog: Bool { self == .pastFromLog || self == .resumedFromLog }

    /// What zoe names herself, so that an answer may repeat it.
    var named: [String] {
        switch self {
        case .lookupByUnique, .inputNamesUnique, .eventArgument, .filterByValue: ["canary"]
        case .node, .nodes, .lookupByID, .filterByRecord, .inputNamesRecord, .linkInput,
            .linkFieldInput, .moveInput, .neighbourInput, .deleteInput, .payloadEdge, .liveLookup,
            .liveField,
            .eventArgumentOfLink:
            ["doc-7"]
        default: []
        }
    }

    /// What is in the text if the document is visible; nil: something that is not of its values, such as a number.
    var tells: String? {
        switch self {
        case .count, .countWhere, .liveCount, .visitLimit, .pageAfter, .firstPage, .lastPage,
            .filterByRecord, .eventArgumentOfLink:
            nil
        case .deletion, .deleteInput: "doc-7"
        default: "canary"
        }
    }

    /// What was answered, or happened, before the document became visible stays hidden: it is asked of the past.
    var isOfThePast: Bool {
        switch self {
        case .pastFromMemory, .pastFromLog, .resumedFromMemory, .resumedFromLog, .repeatedAnswer:
            true
        default: false
        }
    }

    /// Can be done once.
    var isOnce: Bool { self == .deleteInput || self == .deletion || self == .answerOfAnother }

    // MARK: Looking

    /// Begins to look, as zoe.
    func open(_ world: AccessMatrixWorld) async throws -> Look {
        switch self {
        case .node: try query(#"node(id: "doc-7") { id ... on Doc { title } }"#, world)
        case .nodes:
            try query(#"nodes(ids: ["d1", "doc-7"]) { id ... on Doc { title body } }"#, world)
        case .lookupByID: try query(#"doc(id: "doc-7") { id title body tag }"#, world)
        case .lookupByUnique: try query(#"doc(id: "canary-title") { id title body tag }"#, world)
        case .link: try query(#"note(id: "n") { id doc { id title } }"#, world)
        case .nonNullLink: try query(#"note(id: "n") { id must { id title } }"#, world)
        case .interfaceLink: try query(#"note(id: "n") { titled { __typename title } }"#, world)
        case .unionLink:
            try query(#"note(id: "n") { found { __typename ... on Doc { title } } }"#, world)
        case .plainList: try query(#"space(id: "t") { docList { id title } }"#, world)
        case .connection:
            try query(
                #"space(id: "t") { docs { edges { cursor node { id title } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"#,
                world)
        case .typeList: try query("docs { edges { cursor node { id title } } }", world)
        case .everyRecord: try query("everyDoc { id title }", world)
        case .interfaceList: try query(#"space(id: "t") { titled { title } }"#, world)
        case .unionList:
            try query(#"space(id: "t") { found { __typename ... on Doc { title } } }"#, world)
        case .firstPage:
            try query(
                #"docs(first: 2) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } }"#,
                world)
        case .lastPage:
            try query(
                #"docs(last: 2) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } }"#,
                world)
        case .pageAfter: try pageAfter(world)
        case .count: try query(#"space(id: "t") { docCount }"#, world)
        case .countWhere: try query(#"space(id: "t") { taggedCount }"#, world)
        case .filterByValue:
            try query(#"docs(tag: "canary-tag") { edges { node { id title } } }"#, world)
        case .filterByRecord: try query(#"notes(doc: "doc-7") { id text }"#, world)
        case .visitLimit: try query("everyDoc { __typename }", world)
        case .persisted: try persisted(world)
        case .pastFromMemory, .pastFromLog: try await past(world)
        case .payload:
            try mutation(
                #"updateNote(input: { id: "n", text: "m" }) { note { doc { title } } }"#, world)
        case .payloadEdge:
            try mutation(
                #"linkDoc(input: { spaceId: "t", docId: "doc-7" }) { docEdge { cursor node { title } } space { name } }"#,
                world)
        case .inputNamesRecord:
            try mutation(#"updateDoc(input: { id: "doc-7", body: "b" }) { doc { title } }"#, world)
        case .inputNamesUnique:
            try mutation(
                #"updateDoc(input: { id: "canary-title", body: "b" }) { doc { tag } }"#, world)
        case .linkInput:
            try mutation(
                #"unlinkDoc(input: { spaceId: "t", docId: "doc-7" }) { doc { title } }"#, world)
        case .moveInput:
            try mutation(
                #"moveDoc(input: { spaceId: "t", docId: "doc-7" }) { doc { title } }"#, world)
        case .neighbourInput:
            try mutation(
                #"moveDoc(input: { spaceId: "t", docId: "d1", after: "doc-7" }) { space { docs { edges { node { title } } } } }"#,
                world)
        case .linkFieldInput:
            try mutation(
                #"updateNote(input: { id: "o", docId: "doc-7" }) { note { doc { title } } }"#, world
            )
        case .deleteInput:
            try mutation(#"deleteDoc(input: { id: "doc-7" }) { deletedId }"#, world)
        case .repeatedAnswer: try await repeated(world)
        case .answerOfAnother: try await answerOfAnother(world)
        case .liveQuery: try await stream("query @live { everyDoc { id title body } }", world)
        case .liveLookup:
            try await stream(#"query @live { doc(id: "doc-7") { title body } }"#, world)
        case .liveLink:
            try await stream(#"query @live { note(id: "n") { doc { title body } } }"#, world)
        case .liveCount:
            try await stream(#"query @live { space(id: "t") { docCount taggedCount } }"#, world)
        case .liveField:
            try await stream(#"subscription { doc(id: "doc-7") { title body } }"#, world)
        case .patches:
            try await stream(
                "query @live { everyDoc { id title body } docs(last: 2) { edges { node { id } } } }",
                world, ["records": true])
        case .patchesOfLink:
            try await stream(
                #"query @live { note(id: "n") { id doc { id title body } titled { title } } }"#,
                world, ["records": true])
        case .event:
            try await stream("subscription { docChanged { doc { id title body } } }", world)
        case .eventPatches:
            try await stream(
                "subscription { docChanged { doc { id title body } } }", world, ["records": true])
        case .eventOfLink:
            try await stream(
                "subscription { noteChanged { note { id text doc { title } } } }", world)
        case .eventArgument:
            try await stream(
                #"subscription { docChanged(id: "canary-title") { doc { id tag } } }"#, world)
        case .eventArgumentOfLink:
            try await stream(
                #"subscription { noteChanged(docId: "canary-title") { note { id text } } }"#, world)
        case .deletion: try await stream("subscription { docDeleted { deletedId } }", world)
        case .linkedEvent:
            try await stream(
                "subscription { docLinked { doc { title } docEdge { node { title } } space { name } } }",
                world)
        case .resumedFromMemory, .resumedFromLog: try await resumed(world)
        case .expected:
            try await stream(
                "query @live { everyDoc { id title } }", world, ["optimistic": true])
        case .expectedPatches:
            try await stream(
                "query @live { everyDoc { id title } }", world,
                ["optimistic": true, "records": true])
        case .expectedElsewhere:
            try await stream(
                #"query @live { note(id: "n") { doc { title } } space(id: "t") { docCount } }"#,
                world,
                ["optimistic": true])
        case .eventStream: try await eventStream(world)
        }
    }

    /// What makes a stream speak.
    func happen(_ world: AccessMatrixWorld) async throws {
        switch self {
        case .deletion: try await world.delete()
        case .eventOfLink:
            try await world.change(#"updateNote(input: { id: "n", text: "x" }) { note { id } }"#)
        case .eventArgumentOfLink:
            try await world.change(
                #"updateNote(input: { id: "n", docId: "doc-7", text: "x" }) { note { id } }"#)
        case .linkedEvent:
            try await world.change(
                #"unlinkDoc(input: { spaceId: "t", docId: "doc-7" }) { doc { id } }"#)
            try await world.change(
                #"linkDoc(input: { spaceId: "t", docId: "doc-7" }) { doc { id } }"#)
        case .expected, .expectedPatches, .expectedElsewhere: try await expect(world)
        default: try await world.touch("news")
        }
    }

    /// Somebody expects the document's title to change, which does not come true.
    private func expect(_ world: AccessMatrixWorld) async throws {
        let engine = try world.engine
        let answer = try engine.post(
            #"mutation { slowDoc(input: { key: "doc-7" }) { doc { id title } } }"#,
            relay: [
                "optimisticResponse": [
                    "slowDoc": ["doc": ["id": "doc-7", "title": "canary-expected"]]
                ]
            ])
        try await world.upstream.isAsked()
        try await engine.everyPublication()
        try world.upstream.fail(TestFailure("in vain"))
        _ = try await answer.get()
    }
}

extension AccessMatrixWay {
    /// The ways that ask through an exit: one that has none does not compile.
    static func ways(of exit: AccessExit) -> [AccessMatrixWay] {
        switch exit {
        case .link: [.nodes, .link, .nonNullLink, .interfaceLink, .unionLink, .payload]
        case .list: [.plainList, .connection, .typeList, .everyRecord, .interfaceList, .count]
        case .lookup: [.node, .lookupByID, .lookupByUnique, .liveLookup]
        case .filter: [.filterByRecord]
        case .patch: [.patches]
        case .input:
            [
                .inputNamesRecord, .inputNamesUnique, .linkInput, .linkFieldInput, .moveInput,
                .neighbourInput, .deleteInput,
            ]
        case .event: [.event, .eventPatches, .deletion, .linkedEvent, .resumedFromMemory]
        }
    }
}
