/// A message to send, made once and shared by all the connections it goes to.
///
/// It holds its bytes as they travel from a server, frame header included: servers do not mask, so
/// the frame is the same for all and nothing is copied for a connection that can take it.
///
/// Immutable, and freed when the last queue has released it.
package final class OutgoingMessage: Sendable {
    package enum Kind: Sendable {
        case text
        case binary
    }

    package let kind: Kind
    /// The frame header, then the payload.
    let frame: [UInt8]
    let headerBytes: Int

    /// A message of the bytes of `payload`; a text's bytes must be UTF-8.
    package init(_ kind: Kind = .text, _ payload: some Collection<UInt8>) {
        self.kind = kind
        var frame: [UInt8] = []
        frame.reserveCapacity(FrameHeader.maxBytes + payload.count)
        FrameHeader.append(FrameHeader.Opcode(kind), length: payload.count, to: &frame)
        headerBytes = frame.count
        frame.append(contentsOf: payload)
        self.frame = frame
    }

    package convenience init(text: String) {
        self.init(.text, text.utf8)
    }

    package var payloadBytes: Int { frame.count - headerBytes }
}
