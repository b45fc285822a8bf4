import Foundation
import Threads

/// The environment that property wrappers use: that of the task, or else that of the program.
public enum CurrentEnvironment {
    @TaskLocal private static var ofTask: Environment?
    private static let ofProgram = Lock<Environment?>(nil)

    /// nil where none is set.
    public static var value: Environment? { ofTask ?? ofProgram.withLock { $0 } }

    /// Sets the environment of the whole program.
    public static func use(_ environment: Environment?) {
        ofProgram.withLock { $0 = environment }
    }

    /// Runs the body with a different environment than the program's.
    public static func with<R>(_ environment: Environment, _ body: () throws -> R) rethrows -> R {
        try $ofTask.withValue(environment, operation: body)
    }
}

/// A property wrapper was used without an environment.
public struct NoEnvironmentError: SentenceError {
    package init() {}

    public var errorDescription: String? {
        """
        There is no Relay environment here: set one with CurrentEnvironment.use(_:), or for views with \
        relayEnvironment(_:).
        """
    }
}
