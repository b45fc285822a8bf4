public import Relay
package import TerminalUI

/// Fetches a query for a view, follows its data, and keeps its records from being collected as long as the view is
/// there.
///
///     struct TodoList: View {
///         @Query<TodosQuery>(fetchPolicy: .storeAndNetwork) var query
///
///         var body: some View {
///             switch query.get(.init(id: "me")) {
///             case .loading: ProgressView()
///             case .failure(let error): Button("Again: \(error)") { Task { await query.refetch() } }
///             case .success(let data): if let user = data?.user { UserTodos(user: .init(user)) }
///             }
///         }
///     }
///
/// What the policy takes from the store is there at the first evaluation. The view is evaluated again when the
/// query's state, or a field that the query selects outside its fragments, has changed. When the view goes, the request
/// is cancelled.
@propertyWrapper @MainActor
public struct Query<Operation: Relay.Operation>: ViewProperty {
    private final class Box {
        var loader: QueryLoader<Operation>?
    }

    private let box = Box()
    private let fetchPolicy: FetchPolicy

    /// - Parameter fetchPolicy: whether to ask the store, the network, or both.
    public init(fetchPolicy: FetchPolicy = .networkOnly) { self.fetchPolicy = fetchPolicy }

    /// What a query has come to.
    public enum Result {
        /// Nothing has come yet.
        case loading
        /// There is nothing to show, and why.
        case failure(any Error)
        /// The data; nil if there is none in the store, or what the data's type requires is missing.
        case success(Operation.Data?)

        /// Whether nothing has come yet.
        public var isLoading: Bool {
            if case .loading = self { true } else { false }
        }

        /// Why there is nothing to show.
        public var error: (any Error)? {
            if case .failure(let error) = self { error } else { nil }
        }

        /// The data, if there is any.
        public var data: Operation.Data? {
            if case .success(let data) = self { data } else { nil }
        }
    }

    /// Begins the query and gives what it has come to.
    @MainActor
    public struct WrappedValue {
        fileprivate let loader: QueryLoader<Operation>?

        /// What the query has come to. It begins when this is called first, and again with other variables or another
        /// key: of several calls in one body, all have to have the same.
        /// - Parameters:
        ///   - variables: those of the query.
        ///   - fetchKey: with another one the query begins anew.
        public func get(
            _ variables: Operation.Variables, fetchKey: AnyHashable? = nil
        ) -> Result {
            loader?.result(variables, fetchKey) ?? .failure(NoEnvironmentError())
        }

        /// Why the last request failed, though there is data to show: it may be out of date. Of a live query also that
        /// the server has ended it (`LiveQueryEndedError`).
        public var refreshError: (any Error)? { loader?.refreshError }

        /// The errors of fields that came with the data.
        public var errors: [GraphQLError] { loader?.errors ?? [] }

        /// Asks the network again, whatever the policy. The data stays to be seen meanwhile; if there is none, the query
        /// is loading again. Returns when there is an answer, or the view is gone.
        public func refetch() async { await loader?.refetch() }
    }

    /// The query.
    public var wrappedValue: WrappedValue { WrappedValue(loader: box.loader) }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let loader = storage as? QueryLoader<Operation> ?? QueryLoader(node)
        loader.use(node.environment.relayEnvironment, fetchPolicy)
        box.loader = loader
        return loader
    }

    package func isSame(as other: any ViewProperty) -> Bool {
        (other as? Query<Operation>)?.fetchPolicy == fetchPolicy
    }
}

extension Query.WrappedValue where Operation.Variables == EmptyVariables {
    /// What a query without variables has come to.
    public func get(fetchKey: AnyHashable? = nil) -> Query.Result {
        get(EmptyVariables(), fetchKey: fetchKey)
    }
}
