/// The responses to one operation, each a whole GraphQL response as JSON. One task iterates.
///
/// The operation ends at the server when the iteration ends, or this is released.
package final class Responses: AsyncSequence, Sendable {
    package typealias Element = [UInt8]

    package let channel: ResponseChannel
    /// Has the stream go on after a cursor, without patches of records.
    package let renounceRecords: @Sendable (_ cursor: String?) -> Void
    private let onCancel: @Sendable () -> Void

    package init(
        _ channel: ResponseChannel,
        renounceRecords: @escaping @Sendable (_ cursor: String?) -> Void = { _ in },
        onCancel: @escaping @Sendable () -> Void
    ) {
        self.channel = channel
        self.renounceRecords = renounceRecords
        self.onCancel = onCancel
    }

    deinit { onCancel() }

    /// Ends the operation; no response follows.
    package func cancel() {
        onCancel()
        channel.finish(nil)
    }

    package func makeAsyncIterator() -> Iterator { Iterator(responses: self) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let responses: Responses

        /// The next response; nil at the end, or when the task is cancelled.
        ///
        /// - Throws: a ``TransportError``, once, if the operation can get no further responses.
        package func next() async throws -> [UInt8]? {
            try await withTaskCancellationHandler {
                try await responses.channel.next()
            } onCancel: {
                responses.cancel()
            }
        }
    }
}
