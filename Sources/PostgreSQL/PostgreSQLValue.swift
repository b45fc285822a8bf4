/// A parameter of a statement, in PostgreSQL's binary form.
package enum PostgreSQLValue: Sendable {
    case int(Int64)
    case text(String)
    case bytes([UInt8])
    /// `bytea[]`, without nulls.
    case byteStrings([[UInt8]])
    /// `bigint[]`, without nulls.
    case ints([Int64])
    case bool(Bool)
    /// A `bytea` that is null.
    case noBytes
    /// A `bigint` that is null.
    case noInt

    /// The type's OID (PostgreSQL's pg_type.dat).
    var type: UInt32 {
        switch self {
        case .bool: 16
        case .bytes, .noBytes: 17
        case .int, .noInt: 20
        case .text: 25
        case .byteStrings: 1001
        case .ints: 1016
        }
    }

    /// nil for null.
    var encoded: [UInt8]? {
        switch self {
        case .int(let number): number.bigEndianBytes
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .byteStrings(let strings): Self.array(of: 17, strings)
        case .ints(let numbers): Self.array(of: 20, numbers.map(\.bigEndianBytes))
        case .bool(let flag): [flag ? 1 : 0]
        case .noBytes, .noInt: nil
        }
    }

    /// An array of one dimension: dimensions, whether there are nulls, type; size, first index; then each element with
    /// its length (array_recv in PostgreSQL's arrayfuncs.c).
    private static func array(of type: Int32, _ elements: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + $1.count + 4 })
        let head: [Int32] =
            elements.isEmpty ? [0, 0, type] : [1, 0, type, Int32(clamping: elements.count), 1]
        for number in head { bytes += number.bigEndianBytes }
        for element in elements {
            bytes += Int32(clamping: element.count).bigEndianBytes
            bytes += element
        }
        return bytes
    }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

/// What a statement returned. Not Sendable: the memory is libpq's.
package final class PostgreSQLRows {
    package let count: Int
    private let result: LibPQ.Result
    private let library: LibPQ
    private let columns: Int

    init(_ result: LibPQ.Result, _ library: LibPQ) {
        self.result = result
        self.library = library
        count = Int(library.rowCount(result))
        columns = Int(library.columnCount(result))
    }

    deinit { library.clear(result) }

    package func isNull(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Bool {
        try check(row, column)
        return library.isNull(result, Int32(row), Int32(column)) != 0
    }

    /// A `bigint`.
    package func int(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64 {
        let value = try value(row, column)
        guard value.count == 8 else { throw .unexpected("column \(column) is no bigint") }
        return Int64(bigEndian: value.loadUnaligned(as: Int64.self))
    }

    package func bool(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Bool {
        let value = try value(row, column)
        guard value.count == 1 else { throw .unexpected("column \(column) is no boolean") }
        return value[0] != 0
    }

    package func text(_ row: Int, _ column: Int) throws(PostgreSQLError) -> String {
        String(decoding: try value(row, column), as: UTF8.self)
    }

    package func bytes(_ row: Int, _ column: Int) throws(PostgreSQLError) -> [UInt8] {
        Array(try value(row, column))
    }

    /// nil for null.
    package func bytesIfAny(_ row: Int, _ column: Int) throws(PostgreSQLError) -> [UInt8]? {
        try isNull(row, column) ? nil : bytes(row, column)
    }

    /// nil for null.
    package func intIfAny(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64? {
        try isNull(row, column) ? nil : int(row, column)
    }

    /// nil for null.
    package func textIfAny(_ row: Int, _ column: Int) throws(PostgreSQLError) -> String? {
        try isNull(row, column) ? nil : text(row, column)
    }

    private func check(_ row: Int, _ column: Int) throws(PostgreSQLError) {
        guard (0..<count).contains(row), (0..<columns).contains(column) else {
            throw .unexpected("it has no row \(row) with a column \(column)")
        }
    }

    /// Valid as long as this object.
    private func value(_ row: Int, _ column: Int) throws(PostgreSQLError) -> UnsafeRawBufferPointer
    {
        guard try !isNull(row, column) else { throw .unexpected("column \(column) is null") }
        return UnsafeRawBufferPointer(
            start: library.value(result, Int32(row), Int32(column)),
            count: Int(library.length(result, Int32(row), Int32(column))))
    }
}
