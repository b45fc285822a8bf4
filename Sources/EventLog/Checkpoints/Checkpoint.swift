/// The state after one event, as bytes that only the fold can interpret.
///
/// The file, little-endian:
///
///     offset  size
///          0     8  magic "RELAYCHK"
///          8     2  format version, major
///         10     2  format version, minor
///         12     1  length h of the state hash, at most 32
///         13     3  zero
///         16    16  store id
///         32     4  epoch
///         36     4  fold version
///         40     8  sequence: the state is the one after this event
///         48     8  payload length n
///         56    32  state hash: h bytes, the rest zero
///         88     4  crc32 of the payload
///         92     4  crc32 of bytes 0 to 91
///         96     n  payload; nothing follows it
///
/// A checkpoint is valid if and only if magic, major version, store id and both checksums are
/// right, its name matches its sequence, and the file ends with the payload.
package struct Checkpoint: Sendable, Hashable {
    /// The contents of the file's header.
    package struct Header: Sendable, Hashable {
        package let sequence: UInt64
        package let epoch: UInt32
        /// The version of the fold that made the state. Other versions cannot use it.
        package let foldVersion: UInt32
        /// At most 32 bytes.
        package let stateHash: [UInt8]

        package init(sequence: UInt64, epoch: UInt32, foldVersion: UInt32, stateHash: [UInt8]) {
            precondition(stateHash.count <= 32, "a state hash has at most 32 bytes")
            self.sequence = sequence
            self.epoch = epoch
            self.foldVersion = foldVersion
            self.stateHash = stateHash
        }
    }

    package let header: Header
    package let payload: [UInt8]

    package init(header: Header, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }
}

/// Why a file is not the checkpoint that its name says.
enum CheckpointFault: Error, Equatable {
    case cutShort
    case notACheckpoint
    case futureVersion
    case headerChecksum
    case payloadChecksum
    case otherStore
    case name
}

enum CheckpointLayout {
    static let headerSize = 96
    static let magic = Array("RELAYCHK".utf8)

    static func encode(_ checkpoint: Checkpoint, storeID: StoreID) -> [UInt8] {
        let header = checkpoint.header
        var bytes = [UInt8](repeating: 0, count: headerSize)
        bytes.withUnsafeMutableBytes { buffer in
            buffer.copyBytes(from: magic)
            buffer.storeLittleEndian(FormatVersion.current.major, at: 8)
            buffer.storeLittleEndian(FormatVersion.current.minor, at: 10)
            buffer[12] = UInt8(header.stateHash.count)
            storeID.store(into: buffer, at: 16)
            buffer.storeLittleEndian(header.epoch, at: 32)
            buffer.storeLittleEndian(header.foldVersion, at: 36)
            buffer.storeLittleEndian(header.sequence, at: 40)
            buffer.storeLittleEndian(UInt64(checkpoint.payload.count), at: 48)
            for (index, byte) in header.stateHash.enumerated() { buffer[56 + index] = byte }
            buffer.storeLittleEndian(Checksum.crc32(checkpoint.payload), at: 88)
            buffer.storeLittleEndian(
                Checksum.crc32(UnsafeRawBufferPointer(buffer).part(0..<92)), at: 92)
        }
        return bytes
    }

    /// The store id in a header, which may be damaged.
    static func storeID(_ bytes: [UInt8]) -> StoreID? {
        guard bytes.count == headerSize else { return nil }
        return bytes.withUnsafeBytes { StoreID($0, at: 16) }
    }

    /// Reads a header, and the payload's length and checksum.
    static func read(
        _ bytes: [UInt8], sequence: UInt64, storeID: StoreID
    ) throws(CheckpointFault) -> (header: Checkpoint.Header, length: UInt64, checksum: UInt32) {
        guard bytes.count == headerSize else { throw .cutShort }
        guard bytes.starts(with: magic) else { throw .notACheckpoint }
        let fields = bytes.withUnsafeBytes { buffer in
            (
                major: buffer.littleEndian(UInt16.self, at: 8),
                hashLength: Int(buffer[12]),
                storeID: StoreID(buffer, at: 16),
                epoch: buffer.littleEndian(UInt32.self, at: 32),
                foldVersion: buffer.littleEndian(UInt32.self, at: 36),
                sequence: buffer.littleEndian(UInt64.self, at: 40),
                length: buffer.littleEndian(UInt64.self, at: 48),
                checksum: buffer.littleEndian(UInt32.self, at: 88),
                isIntact: Checksum.crc32(buffer.part(0..<92))
                    == buffer.littleEndian(UInt32.self, at: 92)
            )
        }
        guard fields.major == FormatVersion.current.major else { throw .futureVersion }
        guard fields.isIntact, fields.hashLength <= 32 else { throw .headerChecksum }
        guard fields.storeID == storeID else { throw .otherStore }
        guard fields.sequence == sequence else { throw .name }
        let header = Checkpoint.Header(
            sequence: sequence, epoch: fields.epoch, foldVersion: fields.foldVersion,
            stateHash: Array(bytes[56..<56 + fields.hashLength]))
        return (header, fields.length, fields.checksum)
    }
}
