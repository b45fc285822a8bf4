/// A set of numbers of symbols: one bit each.
struct SymbolSet: Sendable {
    private var words: ContiguousArray<UInt64> = []

    func contains(_ number: UInt32) -> Bool {
        let place = Int(number >> 6)
        return place < words.count && words[place] & 1 << UInt64(number & 63) != 0
    }

    mutating func insert(_ number: UInt32) {
        let place = Int(number >> 6)
        while words.count <= place { words.append(0) }
        words[place] |= 1 << UInt64(number & 63)
    }

    mutating func remove(_ number: UInt32) {
        let place = Int(number >> 6)
        if place < words.count { words[place] &= ~(1 << UInt64(number & 63)) }
    }
}
