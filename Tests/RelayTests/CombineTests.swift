import OpenCombine
import Relay
import Testing

#if canImport(Combine)
    import Combine
#endif

/// `import Combine` gives the shapes that the client runtime's publishers have.
@Test func combineIsOpenCombine() {
    #expect(AnyPublisher<Int, Never>.self == OpenCombine.AnyPublisher<Int, Never>.self)
}
