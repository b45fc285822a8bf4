import RelayJSON
package import RelayNormalization
@_spi(Rooms) import RelayRecords

/// Why a store refused something. Nothing has changed.
package enum StoreError: Error, Hashable, CustomStringConvertible {
    /// An updater used the store that runs it.
    case updateWithinUpdate
    /// The optimistic entry has ended: it was answered or revoked before.
    case entryHasEnded
    /// The response has no data. The caller reports what it has instead.
    case responseWithoutData(ResponseSummary)
    /// An optimistic response that the operation could not have.
    case unfitOptimisticResponse(ResponseSummary)

    private static func text(_ error: JSONValue) -> String {
        let message = error["message"]?.string ?? "an error without a message"
        return message.hasSuffix(".") ? String(message.dropLast()) : message
    }

    private static func placedText(_ error: JSONValue) -> String {
        let path = error["path"]?.array?.map { $0.string ?? $0.text } ?? []
        return path.isEmpty ? text(error) : "at \"\(path.joined(separator: "."))\": \(text(error))"
    }

    package var description: String {
        switch self {
        case .updateWithinUpdate:
            """
            An updater used the store that is running it. Read and write through the proxy that the \
            updater was given; nothing was changed.
            """
        case .entryHasEnded:
            "The optimistic update has ended already: it was answered or revoked. Nothing was changed."
        case .responseWithoutData(let summary):
            summary.errors.isEmpty
                ? "The response has no data, and no errors that say why."
                : "The response has no data: \(summary.errors.map(Self.text).joined(separator: "; "))."
        case .unfitOptimisticResponse(let summary):
            summary.errors.isEmpty
                ? "The optimistic response has no data; nothing is shown."
                : """
                The optimistic response does not fit its operation: \
                \(summary.errors.map(Self.placedText).joined(separator: "; ")). Nothing is shown.
                """
        }
    }
}
