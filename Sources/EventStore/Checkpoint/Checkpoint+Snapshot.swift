import Digests
import EventLog
@_spi(Rooms) import RelayRecords

extension Checkpoint {
    /// - Parameter sizeHint: approximate size of the payload, to avoid reallocation.
    init(of snapshot: Snapshot, epoch: UInt32, sizeHint: Int) {
        var payload: [UInt8] = []
        payload.reserveCapacity(sizeHint)
        let hasher = SHA256()
        StateEncoder.encode(snapshot) { bytes in
            hasher.update(bytes)
            payload += bytes
        }
        let header = Header(
            sequence: snapshot.sequence, epoch: epoch,
            foldVersion: StateFormat.version(of: snapshot), stateHash: hasher.finish())
        self.init(header: header, payload: payload)
    }

    func snapshot(
        indexes: [IndexDefinition], takesOlderFold: Bool
    ) throws(MalformedEvent) -> Snapshot {
        let result = payload.withUnsafeBytes { bytes in
            Result { () throws(MalformedEvent) in
                try StateDecoder.decode(bytes, indexes: indexes, takesOlderFold: takesOlderFold)
            }
        }
        return try result.get()
    }
}

/// A state from which folding can start, instead of from the beginning.
struct RestoredState {
    /// Nil if there is no usable checkpoint.
    var snapshot: Snapshot?
    /// A sentence for each newer checkpoint that was skipped.
    var ignored: [String] = []
}

extension CheckpointFiles {
    /// The newest state at or before an event.
    /// - Parameter takesOlderFold: a log that begins later than event 1 cannot be folded again, so a state
    ///   from an older fold is accepted as well. Anything that fold did not keep counts as unknown.
    func restore(
        through sequence: UInt64, indexes: [IndexDefinition], takesOlderFold: Bool = false
    ) throws(EventStoreError) -> RestoredState {
        var state = RestoredState()
        var limit = sequence
        while true {
            let (found, laterCount) = try onLog { () throws(LogError) in
                (
                    try newest(foldVersions: StateFormat.versions, through: limit),
                    try sequences().count { $0 > limit }
                )
            }
            // Later ones come first; being later is nothing to report.
            state.ignored += found.ignored.dropFirst(laterCount).map(\.description)
            guard let checkpoint = found.checkpoint else { return state }
            do throws(MalformedEvent) {
                state.snapshot = try checkpoint.snapshot(
                    indexes: indexes, takesOlderFold: takesOlderFold)
                return state
            } catch {
                // Its checksum is correct, so another build made it and forgot to raise its version.
                let place = checkpoint.header.sequence
                state.ignored.append("Ignored the checkpoint at event \(place): \(error.message).")
                guard place > 0 else { return state }
                limit = place - 1
            }
        }
    }
}
