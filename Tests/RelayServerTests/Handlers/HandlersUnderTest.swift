import Foundation
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Synchronization

/// A small schema for handlers, served in process.
enum HandlerSchema {
    static let base = """
        extend schema @access(default: OPEN)
        interface Node { id: ID! }
        type Query { node(id: ID!): Node list(name: ID!): List @lookup answer: Int! mirror: Pair }
        type Pair { left: String! right: [Int!]! list: List }
        type List implements Node {
          id: ID! name: String! @unique size: Int! @count(field: "items") label(suffix: String = "!"): String!
          items(first: Int, after: String): ItemConnection
        }
        type Item implements Node { id: ID! text: String! done: Boolean! }
        type ItemConnection { edges: [ItemEdge] pageInfo: PageInfo! }
        type ItemEdge { node: Item cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Mutation {
          addItem(input: AddItemInput!): AddItemPayload @create(type: "Item", into: "List.items", parent: "listId")
          copyItem(input: AddItemInput!): AddItemPayload
          dropItem(input: DropItemInput!): DropItemPayload
          spoil(how: String!): SpoilPayload
          fetchItem(input: AddItemInput!): AddItemPayload
        }
        input AddItemInput { text: String! done: Boolean! = false listId: ID! clientMutationId: String }
        type AddItemPayload { item: Item itemEdge: ItemEdge list: List clientMutationId: String }
        input DropItemInput { id: ID! listId: ID! }
        type DropItemPayload { deletedItemId: ID list: List }
        type SpoilPayload { item: Item }
        type Subscription {
          listed(name: ID!): List @lookup @live
          itemCopied(listId: ID): AddItemPayload @on(mutations: ["copyItem"])
          numbers(upTo: Int!): Int!
          items(upTo: Int!): Item
        }
        """

    static let seed = """
        {"id":"l1","type":"List","fields":{"name":"one","items":{"refs":["i1","i2"]}}}
        {"id":"l2","type":"List","fields":{"name":"two"}}
        {"id":"i1","type":"Item","fields":{"text":"a","done":true}}
        {"id":"i2","type":"Item","fields":{"text":"b","done":false}}
        """

    /// Handlers for everything in the schema that needs one.
    static func handlers() -> Handlers {
        var handlers = Handlers()
        handlers.resolve("Query.answer") { _ in 42 }
        handlers.resolve("Query.mirror") { field in
            VariableData(["left": field.viewer ?? "nobody", "right": [1, 2], "list": "l1"])
        }
        handlers.resolve("List.label") { field in
            let done = field.record?.links("items").filter { $0["done"] == true } ?? []
            let texts = done.compactMap { $0["text"].stringValue }
            return texts.joined(separator: "+") + (field.arguments.suffix?.stringValue ?? "")
        }
        handlers.mutation("copyItem") { records, variables in
            guard
                let list = variables.input?["listId"]?.stringValue.flatMap({ records[DataID($0)] })
            else { return nil }
            let item = records.create(typeName: "Item")
            item["text"] = variables.input?["text"]?.stringValue
            item["done"] = variables.input?["done"]?.boolValue
            list.connection("items")?.insert(item, edgeType: "ItemEdge", at: .start)
            return item.dataID
        }
        handlers.mutation("dropItem") { records, variables in
            guard let id = variables.input?["id"]?.stringValue.map(DataID.init(_:)) else {
                return nil
            }
            records.delete(dataID: id)
            return id
        }
        handlers.mutation("spoil") { records, variables in
            try Spoiler.spoil(&records, variables.how?.stringValue ?? "")
        }
        handlers.mutation(
            "fetchItem",
            waitingFor: { _, _, _ in
                throw HandlerError("There is nothing to fetch.")
            })
        handlers.subscription("numbers") { Numbers(upTo: $0.arguments.upTo?.intValue ?? 0) }
        handlers.subscription("items") { context in
            AsyncStream<String> { continuation in
                for number in 1...(context.arguments.upTo?.intValue ?? 1) {
                    continuation.yield("i\(number)")
                }
                continuation.finish()
            }
        }
        return handlers
    }

    struct Numbers: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let upTo: Int
        var last = 0

        init(upTo: Int) { self.upTo = upTo }

        func makeAsyncIterator() -> Numbers { self }

        mutating func next() async -> Int? {
            guard last < upTo else { return nil }
            last += 1
            return last
        }
    }
}

/// A sequence without elements that does not end when its task is cancelled.
struct EndlessSequence: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let gate = Gate()

    /// Tasks that wait for an element.
    var waitingCount: Int { gate.waitingCount }

    func makeAsyncIterator() -> EndlessSequence { self }

    func next() async -> Int? {
        await gate.pass()
        return nil
    }

    func end() { gate.open() }
}

/// Ways in which a handler's writes do not fit the schema.
enum Spoiler {
    @Sendable
    static func spoil(_ records: inout any RecordSourceProxy, _ how: String) throws -> DataID? {
        let item = records["i1"]
        switch how {
        case "type": item?["text"] = 1
        case "null": item?["text"] = NSNull()
        case "unknown": item?["txt"] = "a"
        case "missing": return records.create(typeName: "Item").dataID
        case "link": records["l1"]?.setLinkedRecords("items", records: [records["l2"]])
        case "unset": item?["text"] = nil
        case "earlier link":
            records["l1"]?.setLinkedRecords("items", records: [records["l2"], item])
        case "null link": records["l1"]?.setLinkedRecords("items", records: [nil, item])
        case "no type": return records.create(typeName: "Itme").dataID
        case "interface": return records.create(typeName: "Node").dataID
        case "root": records.root.setLinkedRecord("item", record: item)
        case "nan": item?["text"] = Double.nan
        case "unique": records["l2"]?["name"] = "one"
        case "throw":
            item?["text"] = "written before the throw"
            throw HandlerError("No.", code: "TEAPOT")
        default: item?["text"] = "\(how)"
        }
        return item?.dataID
    }
}
