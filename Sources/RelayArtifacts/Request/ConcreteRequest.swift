/// A compiled operation: how its result is read, how a response is normalized, how it is sent.
///
/// A constant object: make it once (`static let node`), because stores remember what they prepared for
/// it by its identity.
public final class ConcreteRequest: Sendable {
    public let fragment: ReaderFragment
    public let operation: NormalizationOperation
    public let params: RequestParameters

    public init(
        fragment: ReaderFragment, operation: NormalizationOperation, params: RequestParameters
    ) {
        self.fragment = fragment
        self.operation = operation
        self.params = params
    }
}
