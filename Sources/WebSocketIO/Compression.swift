import HTTPMessages
import Zlib

/// Compressors and decompressors that are not in use: some are kept for the next message.
///
/// A connection has one only while it needs it, so that an idle connection costs no window. One pool for a loop.
final class DeflatePool {
    private static let maxSpares = 8
    /// Text shrinks little more at higher levels, at twice the time.
    private static let level: Int32 = 4

    private var deflaters: [Int: [Deflater]] = [:]
    private var inflaters: [Inflater] = []

    /// Nil when there is no memory for one.
    func takeDeflater(windowBits: Int) -> Deflater? {
        deflaters[windowBits]?.popLast() ?? Deflater(windowBits: windowBits, level: Self.level)
    }

    func giveBack(_ deflater: Deflater, windowBits: Int) {
        if deflaters[windowBits, default: []].count >= Self.maxSpares { return }
        deflater.reset()
        deflaters[windowBits, default: []].append(deflater)
    }

    func takeInflater() -> Inflater? { inflaters.popLast() ?? Inflater() }

    func giveBack(_ inflater: Inflater) {
        if inflaters.count >= Self.maxSpares { return }
        inflater.reset()
        inflaters.append(inflater)
    }
}

/// Compresses what a connection sends. RFC 7692 §7.2.1.
final class Compression {
    private let pool: DeflatePool
    private let windowBits: Int
    private let keepsContext: Bool
    private var deflater: Deflater?
    private var isInsideMessage = false
    private var wasUsed = false

    /// Shorter messages are sent as they are: they hardly shrink.
    static let minBytes = 32

    init(
        pool: DeflatePool, windowBits: Int = DeflateAgreement.usualWindowBits, keepsContext: Bool
    ) {
        self.pool = pool
        self.windowBits = windowBits
        self.keepsContext = keepsContext
    }

    /// A message begins. Returns false when it has to be sent as it is: there is no memory for a compressor, or the
    /// window is too small for one.
    func begin() -> Bool {
        // zlib compresses for no window as small as 256 bytes; RFC 7692 §6 lets any message be sent as it is.
        if deflater == nil, windowBits > 8 { deflater = pool.takeDeflater(windowBits: windowBits) }
        isInsideMessage = deflater != nil
        wasUsed = true
        return isInsideMessage
    }

    /// Appends the compressed form of the message's next bytes, or nothing if more are needed for that.
    func deflate(_ bytes: UnsafeRawBufferPointer, isFinal: Bool, onto output: inout [UInt8]) {
        deflater?.deflate(bytes, flushes: isFinal, onto: &output)
        guard isFinal else { return }
        // The receiver puts the end of the empty block back.
        if output.suffix(Inflater.tail.count).elementsEqual(Inflater.tail) {
            output.removeLast(Inflater.tail.count)
        }
        isInsideMessage = false
        if !keepsContext { giveBack() }
    }

    /// Called now and then. A compressor may start afresh at any time, so a silent connection gives its
    /// compressor back.
    func sweep() {
        if !wasUsed, !isInsideMessage { giveBack() }
        wasUsed = false
    }

    /// Nothing more is sent.
    func stop() { giveBack() }

    private func giveBack() {
        if let deflater { pool.giveBack(deflater, windowBits: windowBits) }
        deflater = nil
    }
}

/// Takes apart what a connection receives. RFC 7692 §7.2.2.
final class Decompression {
    private let pool: DeflatePool
    private let keepsContext: Bool
    private var inflater: Inflater?

    init(pool: DeflatePool, keepsContext: Bool) {
        self.pool = pool
        self.keepsContext = keepsContext
    }

    func inflate(
        _ piece: [UInt8], onto output: inout [UInt8], maxBytes: Int
    ) -> Inflater.Outcome {
        if inflater == nil { inflater = pool.takeInflater() }
        return inflater?.inflate(piece, onto: &output, maxBytes: maxBytes) ?? .tooLarge
    }

    func endMessage() {
        inflater?.endMessage()
        if !keepsContext { stop() }
    }

    /// Nothing that comes from now on refers to what has come.
    func stop() {
        if let inflater { pool.giveBack(inflater) }
        inflater = nil
    }
}

extension DeflateAgreement {
    /// For what an endpoint sends.
    func compression(of role: FrameReader.Role, pool: DeflatePool) -> Compression {
        let bits = role == .server ? serverMaxWindowBits : clientMaxWindowBits
        return Compression(
            pool: pool, windowBits: bits ?? Self.usualWindowBits,
            keepsContext: role == .server ? serverKeepsContext : clientKeepsContext)
    }

    /// For what an endpoint receives; of whatever window.
    func decompression(of role: FrameReader.Role, pool: DeflatePool) -> Decompression {
        Decompression(
            pool: pool, keepsContext: role == .server ? clientKeepsContext : serverKeepsContext)
    }
}
