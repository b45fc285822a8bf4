import RelayJSON

/// Why a store refused something. Nothing has changed.
package enum StoreError: Error, Hashable, CustomStringConvertible {
    /// An updater wrote to the store that runs it.
    case updateWithinUpdate
    /// The optimistic entry has ended: it was answered or revoked before.
    case entryHasEnded
    /// The response has no data. What it has instead is for the caller to tell.
    case responseWithoutData(ResponseSummary)

    private static func text(_ error: JSONValue) -> String {
        let message = error["message"]?.string ?? "an error without a message"
        return message.hasSuffix(".") ? String(message.dropLast()) : message
    }

    package var description: String {
        switch self {
        case .updateWithinUpdate:
            """
            An updater wrote to the store that is running it. Write through the proxy that the \
            updater was given; nothing was changed.
            """
        case .entryHasEnded:
            "The optimistic update has ended already: it was answered or revoked. Nothing was changed."
        case .responseWithoutData(let summary):
            summary.errors.isEmpty
                ? "The response has no data, and no errors that say why."
                : "The response has no data: \(summary.errors.map(Self.text).joined(separator: "; "))."
        }
    }
}
