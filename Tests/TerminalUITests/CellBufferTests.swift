import Testing

@testable import TerminalUI

@Suite struct CellBufferTests {
    @Test func textIsClipped() {
        var buffer = CellBuffer(Size(width: 6, height: 2), GraphemeTable())
        let clip = Rect(origin: .zero, size: Size(width: 4, height: 1))
        let count = buffer.write(
            "abcdef", at: Position(column: 1, row: 0), style: .plain, clip: clip)
        #expect(count == 6 && buffer.text == " abc")
        buffer.write("x", at: Position(column: 0, row: 1), style: .plain, clip: clip)
        #expect(buffer.text == " abc")
    }
}
