import Foundation
import Publishing
import Relay
import RelayArtifacts
import RelayLink

/// A network whose operations are sequences of responses. What is the same for all of them as publishers is
/// here.
protocol RespondingNetwork: BytesNetwork, Sendable {
    /// The order in which responses reach their subscribers, whichever operations they are for.
    var order: DeliveryOrder { get }

    /// Whether its streams may be asked for patches of records.
    var takesRecords: Bool { get }

    /// Begins an operation.
    /// - Parameter asksForRecords: of a stream: whether patches of records may stand for later results.
    func responses(
        to request: RequestParameters, variables: VariableData, metadata: RelayMetadata?,
        transactionID: String?, asksForRecords: Bool, interruptions: Interruptions?
    ) -> Responses
}

extension RespondingNetwork {
    var takesRecords: Bool { false }

    /// A publisher of an operation that begins for each subscriber anew.
    func publisher(
        of request: RequestParameters, _ variables: VariableData, _ cacheConfig: CacheConfig
    ) -> AnyPublisher<[UInt8], any Error> {
        let metadata = cacheConfig.metadata as? RelayMetadata
        let transactionID = cacheConfig.mutationID ?? cacheConfig.transactionID
        let interruptions = cacheConfig.interruptions
        let patchable = takesRecords ? cacheConfig.patchable : nil
        return ResponsePublisher(
            in: order, patched: patchable.map { WholeResults($0, variables: variables) }
        ) {
            self.responses(
                to: request, variables: variables, metadata: metadata,
                transactionID: transactionID, asksForRecords: patchable != nil,
                interruptions: interruptions)
        }.eraseToAnyPublisher()
    }
}
