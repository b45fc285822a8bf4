import Digests
import EventLog
@_spi(Rooms) package import RelayRecords

/// The SHA-256 of a state's canonical bytes: equal for equal states, in every process.
package struct StateHash: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// 64 hexadecimal digits.
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Snapshot {
    /// Goes through all records: a second for millions.
    package var stateHash: StateHash {
        let hasher = SHA256()
        StateEncoder.encode(self) { hasher.update($0) }
        return StateHash(bytes: hasher.finish())
    }
}
