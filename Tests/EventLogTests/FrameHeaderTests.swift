import Testing

@testable import EventLog

/// What another program could write into a frame's header, with a checksum that is right.
@Suite struct FrameHeaderTests {
    enum Field: String, CaseIterable {
        case flags, payloadLength, epoch, count, firstSequence, durableThrough, chain
        case payloadChecksum

        var offset: Int {
            switch self {
            case .flags: 2
            case .payloadLength: 4
            case .epoch: 8
            case .count: 12
            case .firstSequence: 16
            case .durableThrough: 24
            case .chain: 32
            case .payloadChecksum: 64
            }
        }

        var size: Int {
            switch self {
            case .flags: 2
            case .payloadLength, .epoch, .count, .payloadChecksum: 4
            case .firstSequence, .durableThrough, .chain: 8
            }
        }
    }

    /// The header of a frame of events, each without a payload, or of a closing frame.
    private static func header(events: Int, first: UInt64) -> FrameHeader {
        FrameHeader(
            flags: events == 0 ? .closing : [], payloadLength: events * EventLayout.headerSize,
            epoch: 1, count: events, firstSequence: first, durableThrough: 0, chain: .zero,
            payloadChecksum: 0)
    }

    /// Reads the header with one field set to a number.
    private static func read(
        _ header: FrameHeader, _ field: Field? = nil, _ number: UInt64 = 0
    ) -> Result<FrameHeader, FrameFault> {
        var bytes = [UInt8](repeating: 0, count: FrameLayout.headerSize)
        return bytes.withUnsafeMutableBytes { buffer in
            header.store(into: buffer)
            for index in 0..<(field?.size ?? 0) {
                buffer[(field?.offset ?? 0) + index] = UInt8(
                    truncatingIfNeeded: number >> (8 * index))
            }
            FrameHeader.seal(buffer)
            let sealed = UnsafeRawBufferPointer(buffer)
            return Result { () throws(FrameFault) in try FrameHeader.read(sealed) }
        }
    }

    private static let last = UInt64(Int64.max) - 1

    /// Which numbers a field may have in a frame of three events, and which make no sense.
    @Test(
        arguments: [
            (.flags, [0], [1, 2, 3, 1 << 15, 0xFFFF]),
            (.payloadLength, [48, 49, 1 << 30], [0, 1, 47, 1 << 30 + 1, 1 << 31, 0xFFFF_FFFF]),
            (.epoch, [0, 1, 1 << 31 - 1], [1 << 31, 0xFFFF_FFFF]),
            (.count, [1, 2, 3], [0, 4, 1 << 31 - 1, 1 << 31, 0xFFFF_FFFF]),
            (
                .firstSequence, [1, 1 << 32, last - 2],
                [0, last - 1, last, last + 1, last + 2, .max - 2, .max]
            ),
            (.durableThrough, [0, 1, last, 1 << 63, .max], []),
            (.chain, [0, 1, .max], []),
            (.payloadChecksum, [0, 1, 0xFFFF_FFFF], []),
        ] as [(Field, [UInt64], [UInt64])])
    func eachFieldAtItsExtremes(_ field: Field, _ good: [UInt64], _ bad: [UInt64]) throws {
        let header = Self.header(events: 3, first: 10)
        for number in good {
            let read = try Self.read(header, field, number).get()
            #expect(read.lastSequence >= read.firstSequence, "\(field) \(number)")
            #expect(read.size >= FrameLayout.size(payload: 48), "\(field) \(number)")
        }
        for number in bad {
            #expect(Self.read(header, field, number) == .failure(.fields), "\(field) \(number)")
        }
    }

    /// The same for a closing frame, which has no events.
    @Test(
        arguments: [
            (.flags, [1], [0, 2, 3, 0xFFFF]),
            (.payloadLength, [0], [1, 16, 1 << 30, 0xFFFF_FFFF]),
            (.epoch, [0, 1, 1 << 31 - 1], [1 << 31, 0xFFFF_FFFF]),
            (.count, [0], [1, 0xFFFF_FFFF]),
            (.firstSequence, [1, last, last + 1], [0, last + 2, 1 << 63, .max]),
            (.durableThrough, [0, .max], []),
        ] as [(Field, [UInt64], [UInt64])])
    func eachFieldOfAClosingFrameAtItsExtremes(
        _ field: Field, _ good: [UInt64], _ bad: [UInt64]
    ) throws {
        let header = Self.header(events: 0, first: 10)
        for number in good {
            let read = try Self.read(header, field, number).get()
            #expect(read.lastSequence == read.firstSequence - 1, "\(field) \(number)")
        }
        for number in bad {
            #expect(Self.read(header, field, number) == .failure(.fields), "\(field) \(number)")
        }
    }

    @Test func whatIsNotAHeaderIsToldFromOneThatHasChanged() {
        var bytes = [UInt8](repeating: 0, count: FrameLayout.headerSize)
        func read() -> FrameFault? {
            bytes.withUnsafeBytes { buffer in
                do throws(FrameFault) {
                    _ = try FrameHeader.read(buffer)
                    return nil
                } catch {
                    return error
                }
            }
        }
        #expect(read() == .magic)
        bytes.withUnsafeMutableBytes { buffer in
            Self.header(events: 1, first: 1).store(into: buffer)
            FrameHeader.seal(buffer)
        }
        #expect(read() == nil)
        for index in bytes.indices {
            bytes[index] ^= 0x80
            #expect(read() == (index < 2 ? .magic : .headerChecksum), "byte \(index)")
            bytes[index] ^= 0x80
        }
    }
}
