/// A value that any thread may hold on to, and only the loop's thread may look at.
///
/// This is how handles that travel (a connection, a responder) reach what belongs to the loop.
final class LoopConfined<Value>: @unchecked Sendable {
    // Unchecked: every access asserts that it happens on the loop's thread.
    private let loop: IOLoop
    private var storage: Value

    init(_ value: Value, on loop: IOLoop) {
        self.loop = loop
        storage = value
    }

    var value: Value {
        get {
            loop.assertIsCurrent()
            return storage
        }
        set {
            loop.assertIsCurrent()
            storage = newValue
        }
    }
}
