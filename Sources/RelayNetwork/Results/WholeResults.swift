import RelayArtifacts
import RelayLink
@_spi(Rooms) import RelayStore
import ResultPatches

/// The responses of one stream on their way to its subscriber, whole where the server has sent patches of records.
///
/// Where patches can't be used, or don't pay, the stream is asked to go on without them, behind the last response that
/// was delivered; what comes before it does is dropped, because it comes again.
struct WholeResults {
    private enum State {
        case patched(PatchedResults)
        /// The stream was asked to go on without patches, and has not begun to.
        case renounced
        case whole
    }

    private var state: State

    init(_ operation: NormalizationOperation, variables: VariableData) {
        state = .patched(PatchedResults(operation, variables: variables))
    }

    struct Step {
        /// To be delivered.
        var response: [UInt8]?
        /// The stream is to go on without patches.
        var renounces = false
        /// Behind which it is to go on.
        var cursor: String?
    }

    /// The next response as it came.
    mutating func receive(_ response: [UInt8]) -> Step {
        switch state {
        case .whole: return Step(response: response)
        case .renounced:
            if response == RenewalMark.bytes { state = .whole }
            return Step()
        case .patched where response == RenewalMark.bytes:
            // The server has no records of the operation.
            state = .whole
            return Step()
        case .patched(var results):
            // So that nothing else has its records, and they change in place.
            state = .renounced
            let outcome = results.receive(response)
            switch outcome {
            case .response(let response, isWorthAsking: true):
                state = .patched(results)
                return Step(response: response)
            case .response(let response, isWorthAsking: false):
                return Step(response: response, renounces: true, cursor: results.cursor)
            case .misfit:
                return Step(renounces: true, cursor: results.cursor)
            }
        }
    }
}
