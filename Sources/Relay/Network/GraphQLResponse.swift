public import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayStore

/// A GraphQL response (GraphQL §7.1) that was written to the store; its data still as received.
///
/// While a response is held, the records that its operation reaches are not collected.
public struct GraphQLResponse: Sendable {
    /// The whole response.
    private let bytes: [UInt8]
    /// Whether there is data; false for `"data": null`.
    public let hasData: Bool
    /// nil if there are none. A part's errors come after those of earlier parts.
    public let errors: [GraphQLError]?
    /// What the server adds.
    public let extensions: VariableData
    /// The response as the store applied it; for a part that could not be applied, the response it is a part of.
    /// nil if there is no data.
    let written: WrittenResponse?
    /// Whether more parts of it are to come.
    let hasNext: Bool

    /// Whether it is one of many: an event of a subscription, or a result of a live query.
    let isEvent: Bool
    /// Whether it is the answer to a mutation that was refused, and has null where its data would be.
    private let isRefusal: Bool

    init(
        _ bytes: [UInt8], _ summary: ResponseSummary, written: WrittenResponse?, isEvent: Bool
    ) {
        self.isEvent = isEvent
        self.bytes = bytes
        self.written = written
        hasData = written != nil
        hasNext = summary.hasNext
        isRefusal = summary.isRefusal
        errors = summary.errors.isEmpty ? nil : summary.errors.map(GraphQLError.init)
        extensions = summary.extensions?.object.map { VariableData($0) } ?? [:]
    }

    /// Why a mutation was not carried out; nil: it was.
    func refusal(of request: RequestDescriptor) -> NetworkError? {
        isRefusal
            ? NetworkError(
                errors: errors ?? [], operation: request.node, variables: request.variables) : nil
    }

    /// The data as a tree, made on each access. nil for a part of an earlier response (`@defer`,
    /// `@stream`).
    public var data: VariableData? {
        guard hasData, let response = try? JSONValue(parsing: bytes) else { return nil }
        return response["data"]?.object.map { VariableData($0) }
    }
}
