/// A message to send, made once and shared by all the connections it goes to.
///
/// It holds its bytes as they travel from a server, frame header included: servers do not mask, so
/// the frame is the same for everybody and nothing is copied for a connection that can take it.
///
/// Immutable, and freed when the last queue has let go of it.
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
        FrameHeader.append(opcode: FrameHeader.opcode(of: kind), length: payload.count, to: &frame)
        headerBytes = frame.count
        frame.append(contentsOf: payload)
        self.frame = frame
    }

    package convenience init(text: String) {
        self.init(.text, text.utf8)
    }

    package var payloadBytes: Int { frame.count - headerBytes }
}

/// One message for one connection: what all have in common, behind what is this one's own.
///
/// The peer sees one message, `prefix` then the shared payload. A connection's `next` frames differ
/// only in the operation's id, so a result is encoded once and sent to all under their own ids.
package struct Delivery: Sendable {
    package let connection: WebSocketConnection
    package let prefix: [UInt8]
    package let message: OutgoingMessage

    package init(
        _ message: OutgoingMessage, prefix: [UInt8] = [], to connection: WebSocketConnection
    ) {
        self.connection = connection
        self.prefix = prefix
        self.message = message
    }
}

/// The head of a frame as a server writes it: not masked. RFC 6455 §5.2.
enum FrameHeader {
    static let maxBytes = 10

    static let continuation: UInt8 = 0x0

    static func opcode(of kind: OutgoingMessage.Kind) -> UInt8 {
        switch kind {
        case .text: 0x1
        case .binary: 0x2
        }
    }

    static func append(
        opcode: UInt8, isFinal: Bool = true, length: Int, to bytes: inout [UInt8]
    ) {
        bytes.append((isFinal ? 0x80 : 0) | opcode)
        if length < 126 {
            bytes.append(UInt8(length))
        } else if length <= 0xFFFF {
            bytes.append(126)
            bytes.append(UInt8(truncatingIfNeeded: length >> 8))
            bytes.append(UInt8(truncatingIfNeeded: length))
        } else {
            bytes.append(127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: length >> shift))
            }
        }
    }
}
