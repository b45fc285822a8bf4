import Dispatch
import Foundation
import Publishing

/// Does things later; tests have one of their own.
protocol Scheduling: Sendable {
    /// - Returns: what calls it off.
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
