import GraphQLLanguage
import RelayArtifacts
import RelayIR
import RelayJSON
import Threads

@testable import RelayNormalization
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// The schema and documents of the store's tests.
enum TodoDocuments {
    static let schema = """
        directive @defer(label: String, if: Boolean = true) on FRAGMENT_SPREAD | INLINE_FRAGMENT
        type Query {
          me: User
          node(id: ID!): Node
          search(text: String): [Result]
          settings: Settings
          todos(first: Int, complete: Boolean): [Todo]
          counter(step: Float): Int
          user(id: ID = "me", name: String): User
        }
        interface Node { id: ID! }
        union Result = Todo | User
        type Settings { theme: String, layout: Layout }
        type Layout { columns: Int, panes: [Pane] }
        type Pane { title: String }
        interface Named { name: String }
        type User implements Node & Named {
          id: ID!
          name: String
          best: User
          todos(first: Int, after: String, last: Int, before: String, complete: Boolean): TodoConnection
          tasks(first: Int, after: String, open: Boolean = true, tag: String): TodoConnection
        }
        type TodoConnection { edges: [TodoEdge], pageInfo: TodoPageInfo!, totalCount: Int }
        type TodoEdge { cursor: String, node: Todo }
        type TodoPageInfo {
          endCursor: String, hasNextPage: Boolean, hasPreviousPage: Boolean, startCursor: String
          total: Int!, range: PageRange, marks: [PageRange]
        }
        type PageRange { from: Int }
        scalar JSON
        type Todo implements Node {
          id: ID!
          text: String
          complete: Boolean
          weight: Float
          priority: Int
          tags: [String]
          extra: JSON
          author: User
          history: [Todo]
        }
        type Mutation {
          change(id: ID!, text: String): ChangePayload
          add(text: String): AddPayload
          remove(id: ID!): RemovePayload
        }
        type ChangePayload { todo: Todo }
        type AddPayload { todo: Todo, edge: TodoEdge, edges: [TodoEdge], todos: [Todo] }
        type RemovePayload { deletedID: ID, deletedIDs: [ID] }
        type Subscription { changed: Todo }
        """

    static let text = """
        query Me { me { id name ...Todos_user } }
        fragment Todos_user on User @argumentDefinitions(count: {type: "Int", defaultValue: 2}, cursor: {type: "String"}) {
          todos(first: $count, after: $cursor) @connection(key: "Todos_todos") {
            edges { cursor node { id text ...Row_todo } }
          }
        }
        query Next($count: Int, $cursor: String) {
          me { id ...Todos_user @arguments(count: $count, cursor: $cursor) }
        }
        query Page($count: Int, $cursor: String) {
          me { id todos(first: $count, after: $cursor) @connection(key: "Todos_todos") {
            edges { cursor node { id text complete } }
            pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
        }
        query Tasks($open: Boolean, $tag: String) {
          me { id tasks(first: 2, open: $open, tag: $tag) @connection(key: "Tasks_tasks") { edges { node { id text } } } }
        }
        query Users($id: ID) {
          user { id }
          none: user(id: null) { id }
          given: user(id: $id) { id }
          unnamed: user(id: "u", name: null) { id }
        }
        query Other($count: Int, $cursor: String) {
          me { id todos(first: $count, after: $cursor) @connection(key: "Other_todos") {
            edges { cursor node { id text complete } }
            pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
        }
        query Counted($count: Int) {
          me { id todos(first: $count) @connection(key: "Todos_todos") {
            totalCount
            edges { cursor node { id text complete } }
            pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
        }
        query Informed($count: Int, $cursor: String) {
          me { id todos(first: $count, after: $cursor) @connection(key: "Todos_todos") {
            edges { node { id } }
            pageInfo { __typename total range { from } marks { from } } } }
        }
        query Bare($count: Int) {
          me { id todos(first: $count) {
            edges { cursor node { id text complete } }
            pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
        }
        query PageBack($count: Int, $cursor: String) {
          me { id todos(last: $count, before: $cursor) @connection(key: "Todos_todos") {
            edges { cursor node { id text complete } }
            pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
        }
        query Done($count: Int, $cursor: String) {
          me { id todos(first: $count, after: $cursor, complete: true) @connection(key: "Done_todos") {
            edges { cursor node { id text complete } }
            pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
        }
        query DoneBack($count: Int, $cursor: String) {
          me { id todos(last: $count, before: $cursor, complete: true) @connection(key: "Back_todos") {
            edges { cursor node { id text complete } }
            pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }
        }
        query Filtered($complete: Boolean) {
          me { id todos(first: 2, complete: $complete) @connection(key: "Filtered_todos") {
            edges { cursor node { id text } } } }
        }
        query Full($full: Boolean!, $cursor: String) {
          me { id
            todos(first: 2, after: $cursor) { totalCount }
            ... @include(if: $full) {
              todos(first: 2, after: $cursor) @connection(key: "Full_todos") { edges { node { id } } } } }
        }
        query FullFirst($count: Boolean!, $cursor: String) {
          me { id
            todos(first: 2, after: $cursor) @connection(key: "Full_todos") { edges { node { id } } }
            ... @include(if: $count) { todos(first: 2, after: $cursor) { totalCount } } }
        }
        query FullOfType($cursor: String) {
          search { ... on Node { ... on User { todos(first: 2, after: $cursor) { totalCount } } }
            ... on User { todos(first: 2, after: $cursor) @connection(key: "Full_todos") { edges { node { id } } } } }
        }
        query CaughtCursors($with: Boolean!) {
          me { id todos(first: 2) @connection(key: "Todos_todos") {
            edges { node { id } } ... @include(if: $with) { edges { cursor @catch(to: RESULT) } } } }
        }
        query RequiredCursors($with: Boolean!) {
          me { id todos(first: 2) @connection(key: "Todos_todos") {
            edges { node { id } } ... @include(if: $with) { edges { cursor @required(action: NONE) } } } }
        }
        fragment Row_todo on Todo { id text complete author { id name } }
        query One($id: ID!) { node(id: $id) { id ... on Todo { text complete weight priority tags extra author { id name } } ... on User { name } } }
        query Search($text: String) { search(text: $text) { __typename ... on Todo { id text } ... on User { id name } } }
        query Mixed($text: String) { search(text: $text) { __typename ... on Node { id } ... on Todo { text } } }
        query Nodes($id: ID!) { node(id: $id) { ... on Node { id } } }
        query Settings { settings { theme layout { columns panes { title } } } }
        query List($complete: Boolean, $with: Boolean! = true, $not: Boolean! = false) {
          list: todos(first: 3, complete: $complete) { id text @include(if: $with) complete @skip(if: $not) }
        }
        query Authors { todos(first: 200) { id author { id name } } }
        query Histories { me { id name } todos(first: 9) { id history { id } } }
        query Aliases { \((0..<26).map { "a\($0): counter(step: \($0))" }.joined(separator: " ")) again: counter(step: 25) }
        query Counter($step: Float = 1.5) { counter(step: $step) }
        query Best { me { id name best { id name best { id name } } } }
        query Required { me { id name @required(action: LOG) best @required(action: NONE) { id } } }
        query Caught { me @catch(to: NULL) { id name } }
        query CaughtAndRequired {
          node(id: "u") { id ... on User { name @required(action: THROW) } ... on Named { name @catch(to: RESULT) } }
        }
        query CaughtTags($id: ID!) { node(id: $id) { id ... on Todo { tags @catch(to: RESULT) none: tags @catch(to: NULL) } } }
        query Aliased($id: ID!) {
          node(id: $id) {
            id ... on Todo @alias(as: "todo") { text author { id name } }
            ...Name_user @alias(as: "user") ... @alias(as: "always") { __typename }
          }
        }
        query Deferred { me { id ...Name_user @defer(label: "name") } }
        fragment Name_user on User { name }
        mutation Change($id: ID!, $text: String) { change(id: $id, text: $text) { todo { id text } } }
        mutation Append($text: String, $connections: [ID!]!) {
          add(text: $text) { edge @appendEdge(connections: $connections) { cursor node { id text } } }
        }
        mutation Prepend($text: String, $connections: [ID!]!) {
          add(text: $text) { todo @prependNode(connections: $connections, edgeTypeName: "TodoEdge") { id text } }
        }
        mutation AppendAll($text: String, $connections: [ID!]!) {
          add(text: $text) { todos @appendNode(connections: $connections, edgeTypeName: "TodoEdge") { id text } }
        }
        mutation PrependAll($text: String, $connections: [ID!]!) {
          add(text: $text) { todos @prependNode(connections: $connections, edgeTypeName: "TodoEdge") { id text } }
        }
        mutation PrependEdges($text: String, $connections: [ID!]!) {
          add(text: $text) { edges @prependEdge(connections: $connections) { cursor node { id text } } }
        }
        mutation Remove($id: ID!, $connections: [ID!]!) {
          remove(id: $id) { deletedID @deleteEdge(connections: $connections) deletedIDs @deleteRecord }
        }
        subscription Changed { changed { id text } }
        """

    static let compiled: Result<RelayDocuments, any Error> = Result {
        try RelayDocuments(
            try Document(parsing: text), schema: try Schema.build([Source(schema)]))
    }

    static func operation(
        _ name: String, _ variables: VariableData = [:]
    ) throws -> OperationDescriptor {
        guard let operation = try compiled.get().operation(name) else {
            throw InvalidResponse(description: "there is no operation \(name)")
        }
        return OperationDescriptor(operation.request, variables: variables)
    }

    static func fragment(_ name: String) throws -> ReaderFragment {
        guard let fragment = try compiled.get().fragment(name) else {
            throw InvalidResponse(description: "there is no fragment \(name)")
        }
        return fragment.node
    }
}

extension Store {
    /// A store that collects garbage only when it is told to.
    static func quiet(_ change: (inout StoreOptions) -> Void = { _ in }) -> Store {
        var options = StoreOptions()
        options.schedule = { _ in }
        change(&options)
        return Store(options: options)
    }

    @discardableResult
    func commit(
        _ name: String, _ variables: VariableData = [:], _ response: JSONValue,
        updater: SelectorUpdater? = nil
    ) throws -> ResponseSummary {
        try commitPayload(
            TodoDocuments.operation(name, variables), response.bytes, updater: updater)
    }

    @discardableResult
    func commit(_ name: String, _ response: JSONValue) throws -> ResponseSummary {
        try commit(name, [:], response)
    }

    func begin(
        _ name: String, _ variables: VariableData = [:], expecting response: JSONValue? = nil,
        updater: SelectorUpdater? = nil
    ) throws -> OptimisticEntryID {
        try applyMutation(
            TodoDocuments.operation(name, variables),
            optimistic: OptimisticMutation(response: response?.bytes, updater: updater))
    }

    func read(_ name: String, _ variables: VariableData = [:]) throws -> SelectorSnapshot {
        lookup(ReaderSelector(try TodoDocuments.operation(name, variables)))
    }

    func json(_ name: String, _ variables: VariableData = [:]) throws -> JSONValue {
        let snapshot = try read(name, variables)
        return snapshot.data?.json ?? .null
    }

    /// A value as optimistic and confirmed state show it.
    func field(_ record: String, _ key: String) -> FieldValue? {
        let snapshot = snapshot
        return snapshot.existing(record).flatMap { snapshot.fieldValue(key, of: $0) }
    }

    func ids() -> [String] {
        let snapshot = snapshot
        return snapshot.recordsInCreationOrder().map { snapshot.symbols.idString($0) }
    }
}

extension DataNode {
    /// The data as JSON, for comparison; fragment pointers are left out.
    var json: JSONValue {
        var object = JSONObject()
        for field in reading.fields {
            let name = String(decoding: field.name, as: UTF8.self)
            switch field.kind {
            case .scalar: object[name] = row.slot(of: field.key).map { row.json($0) }
            case .typename: object[name] = .string(typename)
            case .dataID: object[name] = .string(reading.symbols.idString(record))
            case .linked, .plural: object[name] = children[field.childPlace].json
            case .alias: object[name] = child(named: name)?.json ?? .null
            }
        }
        return .object(object)
    }
}

extension DataNode.Child {
    var json: JSONValue? {
        switch self {
        case .missing: nil
        case .null: .null
        case .failed(let errors): ["errors": .int(Int64(errors.count))]
        case .node(let node): node.json
        case .list(let list): .array(list.elements.map { $0?.json ?? .null })
        }
    }
}

/// Collects what callbacks tell.
final class Told: Sendable {
    private let values = Lock<[SelectorSnapshot]>([])

    var count: Int { values.withLock { $0.count } }
    var last: SelectorSnapshot? { values.withLock { $0.last } }

    func add(_ snapshot: SelectorSnapshot) { values.withLock { $0.append(snapshot) } }
}
