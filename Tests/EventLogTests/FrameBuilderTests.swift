import Testing

@testable import EventLog

@Suite(.bounded) struct FrameBuilderTests {
    private func frame(_ builder: FrameBuilder) -> [UInt8] {
        builder.append(testBatch(1...3))
        builder.close(after: LogHead(sequence: 0, epoch: 1, hash: .zero), durableThrough: 0)
        return builder.withBytes { Array($0) }
    }

    /// One large mutation is no reason to keep as much memory for ever.
    @Test func memoryFarAboveTheUsualIsGivenBack() {
        let builder = FrameBuilder()
        builder.append(testBatch(1...1, size: 20 << 20))
        #expect(builder.capacity > 20 << 20)
        builder.removeAll()
        #expect(builder.capacity < 1 << 20)
        #expect(frame(builder) == frame(FrameBuilder()))
    }
}
