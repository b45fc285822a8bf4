public import Foundation
@_spi(Rooms) public import RelayStore

/// An error that describes itself in whole sentences, both printed and in `localizedDescription`.
public protocol SentenceError: LocalizedError, CustomStringConvertible {}

extension SentenceError {
    public var description: String { errorDescription ?? "" }
}

/// The text of any error as a whole sentence, so that further text can follow it.
func sentence(_ error: any Error) -> String {
    let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    return text.last.map { ".!?".contains($0) } ?? true ? text : text + "."
}

// What a store throws, for programs that show `localizedDescription`.

extension UpdaterError: SentenceError {
    public var errorDescription: String? { message }
}

extension HandlerError: SentenceError {
    public var errorDescription: String? { message }
}

extension StoreError: SentenceError {
    package var errorDescription: String? { description }
}

extension InvalidResponse: SentenceError {
    package var errorDescription: String? { description }
}
