import BoundedTesting
import Testing

@testable import GraphQLExecution
@_spi(Rooms) @testable import RelayRecords

/// What is remembered of records is what was found out.
@Suite(.bounded)
struct VerdictTableTests {
    @Test(
        arguments: [
            // Numbers that follow each other, that are far apart, and the largest.
            Array(0..<1_000), (0..<1_000).map { $0 << 20 }, (0..<1_000).map { UInt32.max - 2 - $0 },
        ] as [[UInt32]])
    func everyVerdictIsFound(numbers: [UInt32]) {
        var table = VerdictTable()
        defer { table.deallocate() }
        var expected: [RecordIndex: Bool] = [:]
        for number in numbers {
            let record = RecordIndex(rawValue: number)
            #expect(table[record] == nil)
            table.insert(record, number % 3 == 0)
            expected[record] = number % 3 == 0
            // Also those from before it grew.
            if expected.count.nonzeroBitCount == 1 {
                #expect(expected.allSatisfy { table[$0.key] == $0.value })
            }
        }
        #expect(expected.allSatisfy { table[$0.key] == $0.value })
        #expect(table[RecordIndex(rawValue: 1 << 31 | 5)] == nil)
    }
}
