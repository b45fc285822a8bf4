import Foundation
import Publishing
import Relay
import RelayArtifacts
import RelayLink

/// A network whose operations are sequences of responses, with what they all share as publishers.
protocol RespondingNetwork: BytesNetwork, Sendable {
    /// The order in which responses reach their subscribers, whichever operations they are for.
    var order: DeliveryOrder { get }

    /// Whether it supports streams with patches of records.
    var takesRecords: Bool { get }

    /// Starts an operation.
    /// - Parameter asksForRecords: for a stream: whether later results may be sent as patches of records.
    func responses(
        to request: RequestParameters, variables: VariableData, metadata: RelayMetadata?,
        transactionID: String?, asksForRecords: Bool, interruptions: Interruptions?
    ) -> Responses
}

extension RespondingNetwork {
    var takesRecords: Bool { false }

    /// A publisher of an operation that starts anew for each subscriber.
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
