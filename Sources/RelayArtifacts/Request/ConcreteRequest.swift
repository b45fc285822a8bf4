/// A compiled operation: how its result is read, how a response is normalized, how it is sent.
///
/// A constant object: make it once (`static let node`), because stores remember what they prepared for
/// it by its identity.
public final class ConcreteRequest: Sendable {
    /// How the result is read.
    package let fragment: ReaderFragment
    /// How a response is normalized.
    package let operation: NormalizationOperation
    /// What a network sends.
    public let params: RequestParameters

    /// A concrete request, as the compiler writes it.
    /// - Parameters:
    ///   - fragment: how the result is read.
    ///   - operation: how a response is normalized.
    ///   - params: what a network sends.
    public init(
        fragment: ReaderFragment, operation: NormalizationOperation, params: RequestParameters
    ) {
        self.fragment = fragment
        self.operation = operation
        self.params = params
    }
}
