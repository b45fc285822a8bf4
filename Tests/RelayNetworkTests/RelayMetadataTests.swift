import RelayArtifacts
import RelayJSON
import RelayLink
import Testing

@testable import RelayNetwork

/// What is asked of a Relay server with an operation.
@Suite struct RelayMetadataTests {
    private func relay(
        _ kind: OperationKind, _ text: String, _ metadata: RelayMetadata? = nil,
        showsOptimistic: Bool
    ) -> JSONValue? {
        OperationRequest(
            RequestParameters(name: "Op", operationKind: kind, text: text), variables: [:],
            metadata: metadata, transactionID: nil, MutationIDs(), showsOptimistic: showsOptimistic
        ).payload()["extensions"]?["relay"]
    }

    @Test func aNetworkAsksForWhatIsExpectedWhereThereMayBeSome() {
        let subscription = "subscription Op { a }"
        #expect(
            relay(.subscription, subscription, showsOptimistic: true) == ["optimistic": true])
        #expect(relay(.query, "query Op @live { a }", showsOptimistic: true)?["optimistic"] == true)
        #expect(relay(.query, "query Op { a }", showsOptimistic: true) == nil)
        #expect(relay(.mutation, "mutation Op { a }", showsOptimistic: true)?["optimistic"] == nil)
        #expect(relay(.subscription, subscription, showsOptimistic: false) == nil)
        var metadata = RelayMetadata()
        metadata.showsOptimistic = true
        #expect(
            relay(.subscription, subscription, metadata, showsOptimistic: false) == [
                "optimistic": true
            ])
    }
}
