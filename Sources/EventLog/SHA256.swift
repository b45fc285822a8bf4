/// A SHA-256 fed piece by piece, for rooms that hash what they put into a log's directory.
///
/// Not Sendable: one thread at a time.
package final class SHA256 {
    private let hasher = ChainHasher()

    package init() {}

    package func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hasher.update($0) }
    }

    /// The 32 bytes of the hash of everything so far; starts again.
    package func finish() -> [UInt8] { hasher.finish().bytes }
}
