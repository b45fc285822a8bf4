/// The head of a WebSocket frame. RFC 6455 §5.2.
///
///     byte 0  FIN, RSV1, RSV2, RSV3, four bits of opcode
///     byte 1  MASK, seven bits of length: 126 means that 2 bytes of length follow, 127 that 8 do
///     then    4 bytes of masking key, if MASK is set
enum FrameHeader {
    static let maxBytes = 14

    enum Opcode: UInt8 {
        case continuation = 0x0
        case text = 0x1
        case binary = 0x2
        case close = 0x8
        case ping = 0x9
        case pong = 0xA

        init(_ kind: OutgoingMessage.Kind) {
            self = kind == .text ? .text : .binary
        }

        var isControl: Bool { rawValue & 0x8 != 0 }
    }

    /// RFC 6455 §5.5.
    static let maxControlBytes = 125

    static func append(
        _ opcode: Opcode, isFinal: Bool = true, isCompressed: Bool = false, length: Int,
        mask: FrameMask? = nil, to bytes: inout [UInt8]
    ) {
        bytes.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        if length < 126 {
            bytes.append(maskBit | UInt8(length))
        } else if length <= 0xFFFF {
            bytes.append(maskBit | 126)
            bytes.append(UInt8(truncatingIfNeeded: length >> 8))
            bytes.append(UInt8(truncatingIfNeeded: length))
        } else {
            bytes.append(maskBit | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: length >> shift))
            }
        }
        if let mask { bytes.append(contentsOf: mask.key) }
    }
}

/// The key that a client's frame is masked with. RFC 6455 §5.3.
struct FrameMask: Equatable {
    /// The key's first byte is the lowest.
    private let word: UInt32

    /// Unpredictable, as §5.3 requires: from the system's own source.
    static func random() -> FrameMask {
        FrameMask(word: UInt32.random(in: 0 ... .max))
    }

    init(word: UInt32) { self.word = word }

    var key: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }

    /// Masks or unmasks bytes at `offset` of their frame's payload.
    func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: UInt64) {
        if word == 0 { return }
        let shift = UInt32(offset % 4) * 8
        let turned = shift == 0 ? word : word >> shift | word << (32 - shift)
        let pattern = UInt64(littleEndian: UInt64(turned) | UInt64(turned) << 32)
        var index = 0
        while index + 8 <= bytes.count {
            let value = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            bytes.storeBytes(of: value ^ pattern, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            bytes[index] ^= UInt8(truncatingIfNeeded: turned >> (8 * UInt32(index % 4)))
            index += 1
        }
    }
}
