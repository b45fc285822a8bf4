import BoundedTesting
import Synchronization
import Testing
import Threads

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite(.bounded, .timeLimit(.minutes(10)))
struct SignalWatchTests {
    /// By default it would end the process of the tests.
    @Test func aSignalIsHeardAsSoonAsItIsWatched() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        #expect(SignalWatch.begin([SIGUSR1, SIGUSR2]) { continuation.yield($0) })
        kill(getpid(), SIGUSR1)
        var iterator = signals.makeAsyncIterator()
        #expect(await iterator.next() == SIGUSR1)
        kill(getpid(), SIGUSR2)
        #expect(await iterator.next() == SIGUSR2)
    }

    @Test func everybodyWhoWatchesHearsIt() async {
        let (signals, continuation) = AsyncStream.makeStream(of: String.self)
        for name in ["first", "second"] {
            #expect(SignalWatch.begin([SIGWINCH]) { _ in continuation.yield(name) })
        }
        kill(getpid(), SIGWINCH)
        var iterator = signals.makeAsyncIterator()
        #expect(await iterator.next() == "first")
        #expect(await iterator.next() == "second")
    }
}
