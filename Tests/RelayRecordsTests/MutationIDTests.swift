@_spi(Rooms) import RelayRecords
import Testing

@Suite(.bounded) struct MutationIDTests {
    @Test(arguments: ["A:1", "A:0", "a:b:18446744073709551615", "+1:7"])
    func anIDIsReadAsItIsWritten(_ text: String) {
        #expect(MutationID(text)?.description == text)
    }

    /// Another spelling would be answered under a name that its client does not know.
    @Test(arguments: [
        "A:+1", "A:01", "A:-1", "A: 1", "A:1 ", "A:", ":1", "A", "", "A:18446744073709551616",
        "A:٣",
    ])
    func nothingElseIsAnID(_ text: String) {
        #expect(MutationID(text) == nil)
    }
}
