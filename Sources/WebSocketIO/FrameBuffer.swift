import CLibwebsockets

/// Where a loop puts frames together before it hands them to the library.
final class FrameBuffer {
    var bytes: [UInt8] = []

    /// The room the library wants in front of a payload, for the header it writes itself.
    static let headroom = [UInt8](repeating: 0, count: Int(clws_pre))

    /// Writes bytes that are already frames, or HTTP, as they are.
    ///
    /// The library takes all of them: what the socket refuses it keeps in a buffer of its own, and
    /// `lws_partial_buffered` says so. Returns false when the connection is broken.
    static func writeRaw(_ bytes: UnsafeRawBufferPointer, to wsi: OpaquePointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        // Raw writes do not change the bytes; only the type of the parameter says they might.
        let pointer = UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
        return lws_write(wsi, pointer, bytes.count, LWS_WRITE_HTTP) >= 0
    }

    /// Sends `piece`, whose payload stands in `bytes` behind the headroom, as the library frames it.
    func write(_ piece: SendQueue.Piece, to wsi: OpaquePointer) -> Bool {
        var type =
            switch (piece.isFirst, piece.kind) {
            case (true, .text): LWS_WRITE_TEXT.rawValue
            case (true, .binary): LWS_WRITE_BINARY.rawValue
            case (false, _): LWS_WRITE_CONTINUATION.rawValue
            }
        if !piece.isFinal { type |= LWS_WRITE_NO_FIN.rawValue }
        return writeFramed(lws_write_protocol(rawValue: type), to: wsi)
    }

    /// A ping. It has a payload because the library says nothing of an empty pong.
    func writePing(to wsi: OpaquePointer) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: Self.headroom)
        bytes.append(contentsOf: "keep-alive".utf8)
        return writeFramed(LWS_WRITE_PING, to: wsi)
    }

    private func writeFramed(_ type: lws_write_protocol, to wsi: OpaquePointer) -> Bool {
        let headroom = Self.headroom.count
        // One byte more, so that an empty payload has an address, too.
        bytes.append(0)
        let length = bytes.count - headroom - 1
        return bytes.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return lws_write(wsi, start + headroom, length, type) >= 0
        }
    }
}
