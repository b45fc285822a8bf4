@_spi(Rooms) package import RelayRecords

extension Snapshot {
    /// The state's canonical bytes: what a checkpoint holds (``StateFormat``).
    package var checkpointPayload: [UInt8] {
        var payload: [UInt8] = []
        StateEncoder.encode(self) { payload += $0 }
        return payload
    }

    /// Reads a state back. Whatever the bytes are, it ends with a state or an error.
    package init(
        checkpointPayload bytes: UnsafeRawBufferPointer, indexes: [IndexDefinition]
    ) throws(MalformedEvent) {
        self = try StateDecoder.decode(bytes, indexes: indexes)
    }
}
