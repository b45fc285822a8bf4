/// Whether two texts are the same, compared eight bytes at a time.
@inlinable @inline(__always)
@_spi(Rooms) public func areSame(
    _ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>
) -> Bool {
    guard one.count == other.count else { return false }
    let (left, right) = (UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(other))
    let count = left.count
    if count < 8 {
        for index in 0..<count where left[index] != right[index] { return false }
        return true
    }
    var offset = 0
    while offset < count - 8 {
        if word(left, offset) != word(right, offset) { return false }
        offset += 8
    }
    // The last eight, some of which may have been compared already.
    return word(left, count - 8) == word(right, count - 8)
}

@inlinable @inline(__always)
func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
}
