import Dispatch
import Foundation
import Publishing

/// Runs things later; tests have their own.
protocol Scheduling: Sendable {
    /// - Returns: what cancels it.
    func schedule(after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void)
        -> AnyCancellable
}

struct DispatchScheduler: Scheduling {
    func schedule(after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void)
        -> AnyCancellable
    {
        let item = Transfer(value: DispatchWorkItem(block: body))
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: item.value)
        return AnyCancellable { item.value.cancel() }
    }
}
