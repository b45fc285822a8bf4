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

    @Test func aWideGraphemeIsNeverHalf() {
        func row(_ draw: (inout CellBuffer) -> Void) -> String {
            var buffer = CellBuffer(Size(width: 6, height: 1), GraphemeTable())
            buffer.write("日本語", at: .zero, style: .plain, clip: buffer.bounds)
            draw(&buffer)
            return buffer.text
        }
        let place = Position(column: 1, row: 0)
        #expect(row { $0.write("x", at: place, style: .plain, clip: $0.bounds) } == " x本語")
        #expect(row { $0.write("é", at: place, style: .plain, clip: $0.bounds) } == " é本語")
        #expect(row { $0.write("xyz", at: place, style: .plain, clip: $0.bounds) } == " xyz語")
        #expect(row { $0.write("韓", at: place, style: .plain, clip: $0.bounds) } == " 韓 語")
        let half = Rect(origin: .zero, size: Size(width: 2, height: 1))
        #expect(row { $0.write("a韓b", at: .zero, style: .plain, clip: half) } == "a 本語")
        let before = Position(column: -1, row: 0)
        #expect(row { $0.write("韓b", at: before, style: .plain, clip: $0.bounds) } == " b本語")
        #expect(row { $0.write("abc", at: before, style: .plain, clip: $0.bounds) } == "bc本語")
    }

    /// Rows are compared by their bytes.
    @Test func aCellHasNoBytesThatMeanNothing() {
        #expect(MemoryLayout<Cell>.size == 16 && MemoryLayout<Cell>.stride == 16)
        for kind in [Color.Kind.standard, .palette(0), .palette(255), .rgb(1, 2, 3), .rgb(0, 0, 0)]
        {
            #expect(Color(kind).kind == kind)
        }
    }
}
