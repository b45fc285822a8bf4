@_spi(Rooms) package import RelayRecords

extension Snapshot {
    /// The state's canonical bytes: the payload of a checkpoint (``StateFormat``).
    package var checkpointPayload: [UInt8] {
        var payload: [UInt8] = []
        StateEncoder.encode(self) { payload += $0 }
        return payload
    }

    /// Reads a state back. Any bytes result in a state or an error.
    package init(
        checkpointPayload bytes: UnsafeRawBufferPointer, indexes: [IndexDefinition]
    ) throws(MalformedEvent) {
        self = try StateDecoder.decode(bytes, indexes: indexes)
    }
}
