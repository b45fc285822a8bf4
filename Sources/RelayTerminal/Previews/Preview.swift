public import Relay
public import TerminalUI

/// A view without a network: answers are given for operations, and everything else waits for one.
///
/// The payload is a whole response, `{"data": {…}}`.
extension View {
    /// Answers an operation with a payload, for previews and tests. Several can be given, one after the other.
    ///
    ///     Pilot { TodoList().previewPayload(TodosQuery(id: "me"), ["data": ["user": nil]]) }
    public func previewPayload<O: Relay.Operation>(
        _ operation: O, _ payload: [String: Any]
    ) -> some View {
        PayloadPreview(content: self) { try $0.mockResponse(operation, payload) }
    }

    /// The same with the payload as JSON.
    public func previewPayload<O: Relay.Operation>(_ operation: O, _ payload: String) -> some View {
        PayloadPreview(content: self) { $0.mockResponse(operation, payload) }
    }
}

private struct PayloadPreview<Content: View>: View {
    let content: Content
    let add: (MockEnvironment) throws -> Void
    @State private var own = MockEnvironment()
    @EnvironmentValue(\.previewEnvironment) private var outer

    init(content: Content, add: @escaping (MockEnvironment) throws -> Void) {
        self.content = content
        self.add = add
    }

    var body: some View {
        let environment = outer ?? own
        switch Result(catching: { try add(environment) }) {
        case .success:
            content.environmentValue(\.previewEnvironment, environment)
                .relayEnvironment(environment)
        case .failure(let error): Text("\(error)")
        }
    }
}

extension EnvironmentValues {
    private enum PreviewEnvironmentKey: EnvironmentKey {
        static var defaultValue: MockEnvironment? { nil }
    }

    /// That of a preview around it.
    fileprivate var previewEnvironment: MockEnvironment? {
        get { self[PreviewEnvironmentKey.self] }
        set { self[PreviewEnvironmentKey.self] = newValue }
    }
}

/// Shows a view with the data of a query: for previews of views that take a fragment.
///
///     QueryPreview(TodoQuery(id: "1")) { data in if let todo = data.node { ToDoItem(item: .init(todo)) } }
///         .previewPayload(TodoQuery(id: "1"), payload)
public struct QueryPreview<Operation: Relay.Operation, Content: View>: View {
    private let operation: Operation
    private let content: (Operation.Data) -> Content
    @Query<Operation> private var query

    /// - Parameters:
    ///   - operation: the query.
    ///   - content: what shows its data.
    public init(
        _ operation: Operation, @ViewBuilder content: @escaping (Operation.Data) -> Content
    ) {
        self.operation = operation
        self.content = content
    }

    public var body: some View {
        switch query.get(operation.variables) {
        case .loading: ProgressView()
        case .failure(let error): Text("\(error)")
        case .success(let data): if let data { content(data) }
        }
    }
}
