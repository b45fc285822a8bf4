import Testing

@testable import StoreEngine

@Suite(.bounded) struct StreamCursorTests {
    private let cursor = StreamCursor(storeID: "00ff", epoch: 2, sequence: 0x37)
    private let text = "00ff-0000000000000002-0000000000000037"

    @Test func aCursorIsReadAsItWasWritten() {
        #expect(cursor.text == text)
        #expect(StreamCursor(text) == cursor)
    }

    /// One that was cut short would name another event.
    @Test(arguments: [
        "", "00ff", "00ff-2-37", "00ff-0000000000000002-000000000000003",
        "00ff-0000000000000002-+000000000000037", "00ff-0000000000000002-00000000000000037",
        "00ff-0000000000000002-0000000000000037-", "00ff-0000000000000002-00000000000000AB",
    ])
    func nothingElseIsACursor(_ text: String) {
        #expect(StreamCursor(text) == nil)
    }
}
