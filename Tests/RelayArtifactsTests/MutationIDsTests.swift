import RelayArtifacts
import Testing

@Suite struct MutationIDsTests {
    @Test func mutationIDsRise() {
        let ids = MutationIDs(client: "a", after: 7)
        #expect([ids.next(), ids.next()] == ["a:8", "a:9"])
        #expect(MutationIDs.randomClient().count == 16)
    }
}
