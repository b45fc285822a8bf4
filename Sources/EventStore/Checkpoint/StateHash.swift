import Digests
import EventLog
@_spi(Rooms) package import RelayRecords

/// The SHA-256 of a state's canonical bytes: equal for equal states, in every process.
package struct StateHash: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// 64 hexadecimal digits.
    package var description: String { bytes.hexadecimal }
}

extension Snapshot {
    /// Visits all records: about a second for millions.
    package var stateHash: StateHash {
        let hasher = SHA256()
        StateEncoder.encode(self) { hasher.update($0) }
        return StateHash(bytes: hasher.finish())
    }
}
