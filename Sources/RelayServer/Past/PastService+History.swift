package import EventStore
package import StoreEngine

extension PastService {
    /// Folds a log up to a sequence.
    package init(_ history: History, at sequence: UInt64) throws {
        try self.init(try history.snapshot(at: sequence))
    }
}
