import Foundation

/// The server has answered a mutation, and has not carried it out.
struct RefusedError: LocalizedError, CustomStringConvertible {
    var errorDescription: String? { description }
    var description: String { "The server refused the change: it is taken back." }
}

extension Result where Failure == any Error {
    /// Whether a mutation was carried out.
    /// - Parameter payload: the mutation's field, which is null where it was not.
    func carriedOut<Data>(_ payload: (Data) -> Any?) -> Result<Void, any Error>
    where Success == Data? {
        flatMap { data in
            data.flatMap(payload) == nil ? .failure(RefusedError()) : .success(())
        }
    }
}
