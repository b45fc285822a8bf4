#if canImport(OpenCombine)
    public import OpenCombine
#else
    public import Combine
#endif

/// Reads fragments for views. Every read is of the store as it is now; nothing is kept in between (T23).
public final class FragmentResource: @unchecked Sendable {
    // Unchecked: the environment is; the rest is constant.

    private let environment: Environment

    /// - Parameter environment: whose store is read.
    public init(environment: Environment) { self.environment = environment }

    /// What a fragment reads.
    public struct FragmentResult<Data: ReadableRecord> {
        /// What the store had.
        public let snapshot: Snapshot<Data>
        /// The data; nil where the record does not exist or does not fit.
        public var data: Data? { snapshot.data }
        /// Whether a field was never fetched, or has been collected.
        public var isMissingData: Bool { snapshot.isMissingData }
    }

    /// Reads a fragment.
    public func read<F: Fragment>(_ fragment: F) -> FragmentResult<F.Data> {
        read(selector: fragment.selector)
    }

    /// Reads what a selector names.
    public func read<Data: ReadableRecord>(selector: SingularReaderSelector)
        -> FragmentResult<Data>
    {
        FragmentResult(snapshot: environment.lookup(selector: selector))
    }

    /// The same fragment, each time that its data becomes another.
    public func subscribe<Data: ReadableRecord>(
        _ result: FragmentResult<Data>
    ) -> AnyPublisher<FragmentResult<Data>, Never> {
        environment.subscribe(snapshot: result.snapshot)
            .map { FragmentResult(snapshot: $0) }
            .eraseToAnyPublisher()
    }
}
