/// A set of numbers of symbols: one bit each.
@_spi(Rooms) public struct SymbolSet: Sendable {
    @usableFromInline var words: ContiguousArray<UInt64> = []

    @inlinable @_spi(Rooms) public init() {}

    @inlinable @_spi(Rooms) public func contains(_ number: UInt32) -> Bool {
        let place = Int(number >> 6)
        return place < words.count && words[place] & 1 << UInt64(number & 63) != 0
    }

    @inlinable @_spi(Rooms) public mutating func insert(_ number: UInt32) {
        let place = Int(number >> 6)
        while words.count <= place { words.append(0) }
        words[place] |= 1 << UInt64(number & 63)
    }

    @inlinable @_spi(Rooms) public mutating func remove(_ number: UInt32) {
        let place = Int(number >> 6)
        if place < words.count { words[place] &= ~(1 << UInt64(number & 63)) }
    }
}
