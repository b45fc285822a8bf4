import Testing

@testable import StoreEngine

@Suite struct WaitingLineTests {
    @Test func whoeverCameFirstIsServedFirst() {
        var line = WaitingLine<Int, String>()
        for number in 0..<5_000 { line.append(number, "\(number)") }
        line.append(1, "again")
        line.remove(2)
        line.remove(2)
        #expect(line.count == 4_999)
        #expect((0..<3).map { _ in line.popFirst() } == ["0", "again", "3"])
        line.append(0, "later")
        for number in 4..<5_000 { #expect(line.popFirst() == "\(number)") }
        #expect(line.popFirst() == "later")
        #expect(line.popFirst() == nil)
        #expect(line.isEmpty && line.placeCount == 0)
    }

    @Test func whoeverHasLeftTakesNoRoom() {
        var line = WaitingLine<Int, Int>()
        for number in 0..<10 { line.append(-number, 0) }
        for number in 1..<100_000 {
            line.append(number, number)
            line.remove(number)
            #expect(line.placeCount <= 64)
        }
        #expect(line.count == 10)
    }
}
