import RelayArtifacts
import RelayLink
@_spi(Rooms) import RelayStore
import ResultPatches

/// The responses of one stream on their way to its subscriber, made whole where the server has sent patches of records.
///
/// If patches cannot be used or do not pay, the stream is asked to go on without them, after the last response that was
/// delivered; what arrives before it does so will be sent again. It is kept until then, as much as the channel has of it,
/// because the server may have ended the stream before it was asked.
struct WholeResults {
    private enum State {
        case patched(PatchedResults)
        /// The stream was asked to go on without patches, and does not do so yet. With what has arrived since.
        case renounced(PatchedResults, [[UInt8]])
        case whole
    }

    private let name: String
    private var state: State

    init(_ operation: NormalizationOperation, variables: VariableData) {
        name = operation.name
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
        case .renounced(let results, var kept):
            // So that nothing else has it, and it grows in place.
            state = .whole
            if response == RenewalMark.refusal {
                // The server has refused patches before the link knew that they are not wanted.
                state = .renounced(results, kept)
            } else if response != RenewalMark.bytes {
                kept.append(response)
                state = .renounced(results, kept)
            }
            return Step()
        case .patched where RenewalMark.isMark(response):
            // The server has no records of the operation.
            state = .whole
            return Step()
        case .patched(var results):
            // So that nothing else holds its records, and they change in place.
            state = .whole
            switch results.receive(response) {
            case .response(let response, isWorthAsking: true):
                state = .patched(results)
                return Step(response: response)
            case .response(let response, isWorthAsking: false):
                state = .renounced(results, [])
                return Step(response: response, renounces: true, cursor: results.cursor)
            case .misfit:
                state = .renounced(results, [response])
                return Step(renounces: true, cursor: results.cursor)
            }
        }
    }

    /// The stream has ended.
    /// - Returns: what does not come again, and still is to be delivered before the end; and the error to end with,
    ///   where patches among it could not be used.
    mutating func end() -> (responses: [[UInt8]], loss: TransportError?) {
        guard case .renounced(var results, let kept) = state else { return ([], nil) }
        state = .whole
        var responses: [[UInt8]] = []
        for response in kept {
            if case .response(let whole, _) = results.receive(response) { responses.append(whole) }
        }
        return (responses, responses.count < kept.count ? .unusablePatches(name) : nil)
    }
}

extension TransportError {
    fileprivate static func unusablePatches(_ name: String) -> TransportError {
        TransportError(
            code: .badResponse,
            message: """
                Stream \(name) has ended, and results before its end are lost: the server sent patches of records that do \
                not fit, and had ended the stream before it could be asked for whole results.
                """)
    }
}
