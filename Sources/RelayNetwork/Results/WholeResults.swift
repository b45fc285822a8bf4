import RelayArtifacts
import RelayLink
@_spi(Rooms) import RelayStore
import ResultPatches

/// The responses of one stream on their way to its subscriber, made whole where the server has sent patches of records.
///
/// If patches cannot be used or do not pay, the stream is asked to go on without them, after the last response that was
/// delivered; what arrives before it does so is dropped, because it will be sent again.
struct WholeResults {
    private enum State {
        case patched(PatchedResults)
        /// The stream was asked to go on without patches, and does not do so yet.
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
        /// The stream should go on without patches.
        var renounces = false
        /// The cursor after which it should go on.
        var cursor: String?
    }

    /// The next response as received.
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
            // So that nothing else holds its records, and they change in place.
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
