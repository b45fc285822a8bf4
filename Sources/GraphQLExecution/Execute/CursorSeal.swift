import Digests
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Hides and protects the cursors of those who may not see everything.
///
/// A plain cursor is a position, and positions count the links that its viewer cannot see, too. A sealed one
/// is one block of AES-128: 8 bytes that stand for the list, and 8 of the position. So
///
/// 1. it tells nothing of the position to who has no key;
/// 2. it is a cursor of one list, and a text that no server has written is one of a given list only by a
///    chance of 1 in 2^64;
/// 3. one link of one list always has the same cursor, whoever asks, whenever.
package struct CursorSeal: Hashable, Sendable {
    fileprivate let blockKey: [UInt8]
    fileprivate let listKey: [UInt8]

    /// A seal with a key of its own, for as long as the process lives.
    init() {
        self.init(
            key: (0..<2).flatMap { _ in
                withUnsafeBytes(of: UInt64.random(in: 0 ... .max)) { Array($0) }
            })
    }

    /// - Parameter key: random bytes, at least 16. Cursors are good for as long as it is the same.
    package init(key: [UInt8]) {
        // Blocks and names of lists each have a key of their own.
        let hash = SHA256()
        hash.update(key)
        let keys = hash.finish()
        blockKey = Array(keys.prefix(AES128.keyByteCount))
        listKey = Array(keys.dropFirst(AES128.keyByteCount))
    }
}

/// Stands for a list of links in the cursors of its edges.
package struct ListMark: Hashable, Sendable {
    /// For plain cursors, which do not name their list.
    static let none = ListMark(value: 0)

    fileprivate let value: UInt64
}

/// Seals and opens the cursors of one execution.
///
/// Not Sendable: one thread at a time. What libcrypto needs is made when the first cursor is.
final class CursorSealer {
    private let listKey: [UInt8]
    private let cipher: AES128
    private lazy var hash = SHA256()
    /// What was hashed last.
    private var bytes: [UInt8] = []

    init(_ seal: CursorSeal) {
        listKey = seal.listKey
        cipher = AES128(key: seal.blockKey)
    }

    /// The mark of the list in a record's field.
    ///
    /// It is keyed, so that nobody can look for ids whose lists have the same one.
    func mark(of key: NameIndex, of owner: RecordIndex, _ symbols: Symbols) -> ListMark {
        mark("f", symbols.id(owner), symbols.nameText(key))
    }

    /// The mark of the list of a type's records.
    func mark(ofRecords type: NameIndex, _ symbols: Symbols) -> ListMark {
        mark("r", UnsafeBufferPointer(start: nil, count: 0), symbols.nameText(type))
    }

    private func mark(
        _ kind: Unicode.Scalar, _ owner: UnsafeBufferPointer<UInt8>,
        _ name: UnsafeBufferPointer<UInt8>
    ) -> ListMark {
        bytes.removeAll(keepingCapacity: true)
        bytes += listKey
        bytes.append(UInt8(ascii: kind))
        // With the length of the id in front, no two lists have the same bytes.
        withUnsafeBytes(of: UInt64(owner.count).bigEndian) { bytes += $0 }
        bytes += owner
        bytes += name
        hash.update(bytes)
        return ListMark(value: hash.finish().prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}

// The text: base64url of `s` and the block.
extension CursorSealer {
    private static let prefix = UInt8(ascii: "s")
    private static let byteCount = 17
    /// Characters of each sealed cursor.
    static let length = 23

    func write(_ cursor: ConnectionCursor, of list: ListMark, to writer: inout JSONWriter) {
        let block = cipher.encrypt(
            AES128.Block(high: list.value, low: UInt64(cursor.position)))
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 1) { bytes in
            bytes[0] = Self.prefix
            bytes.storeBytes(of: block.high.bigEndian, toByteOffset: 1, as: UInt64.self)
            bytes.storeBytes(of: block.low.bigEndian, toByteOffset: 9, as: UInt64.self)
            bytes.withMemoryRebound(to: UInt8.self) {
                Base64URL.encode(UnsafeBufferPointer($0), to: &writer)
            }
        }
    }

    /// nil unless the text is a cursor of this list, sealed with this key.
    func open(_ text: String, of list: ListMark) -> ConnectionCursor? {
        guard text.utf8.count == Self.length, let bytes = Base64URL.decode(text),
            bytes.count == Self.byteCount, bytes[0] == Self.prefix
        else { return nil }
        let sealed = bytes.withUnsafeBytes {
            AES128.Block(
                high: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 1, as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 9, as: UInt64.self)))
        }
        let block = cipher.decrypt(sealed)
        guard block.high == list.value, let position = Int(exactly: block.low) else { return nil }
        return ConnectionCursor(position)
    }
}
