import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import StoreEngine

@Suite(.bounded) struct MutationsInProgressTests {
    @Test func soManyAreTakenAndAsManyAsWereAnsweredSince() {
        let mutations = MutationsInProgress(countLimit: 2, byteLimit: .max)
        #expect(mutations.begin(1) == nil)
        #expect(mutations.begin(1) == nil)
        #expect(mutations.begin(1) == .full)
        mutations.end(1)
        #expect(mutations.begin(1) == nil)
        #expect(!mutations.isEmpty)
    }

    /// One that is larger than all the room there is does find room, alone.
    @Test func soManyBytesAreTaken() {
        let mutations = MutationsInProgress(countLimit: .max, byteLimit: 100)
        #expect(mutations.begin(99) == nil)
        #expect(mutations.begin(1_000) == nil)
        #expect(mutations.begin(0) == .full)
        mutations.end(1_000)
        #expect(mutations.begin(0) == nil)
    }

    @Test func whoComesWhenItIsClosedIsNotTaken() {
        let mutations = MutationsInProgress(countLimit: 2, byteLimit: .max)
        #expect(mutations.begin(1) == nil)
        mutations.close()
        #expect(mutations.begin(1) == .closed)
        #expect(!mutations.isEmpty)
        mutations.end(1)
        #expect(mutations.isEmpty)
    }

    /// 2 KB of text that take much more than that.
    @Test func manySmallValuesCountForWhatTheyTake() {
        let numbers = JSONValue.array(Array(repeating: 0, count: 1_000))
        let request = GraphQLRequest(query: "{ a }", variables: ["n": numbers])
        #expect(request.approximateByteCount > 1_000 * MemoryLayout<JSONValue>.stride)
        let document = GraphQLRequest(query: String(repeating: "x", count: 10_000))
        #expect(document.approximateByteCount > 10_000)
    }
}
