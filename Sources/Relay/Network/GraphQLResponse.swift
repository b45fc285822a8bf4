public import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayStore

/// A GraphQL response (GraphQL §7.1) that has been written to the store; its data still as it came.
///
/// As long as a response is kept, the records that its operation reaches are not collected.
public struct GraphQLResponse: Sendable {
    /// The whole response.
    private let bytes: [UInt8]
    /// Whether there is data; false for `"data": null`.
    public let hasData: Bool
    /// nil where there are none. Those of a part of a response come behind those of the parts before it.
    public let errors: [GraphQLError]?
    /// What the server adds.
    public let extensions: VariableData
    /// The response as the store took it in; of a part of a response that could not be taken in, the response that
    /// it is a part of. nil where there is no data.
    let written: WrittenResponse?
    /// Whether more parts of it are to come.
    let hasNext: Bool

    init(_ bytes: [UInt8], _ summary: ResponseSummary, written: WrittenResponse?) {
        self.bytes = bytes
        self.written = written
        hasData = written != nil
        hasNext = summary.hasNext
        errors = summary.errors.isEmpty ? nil : summary.errors.map(GraphQLError.init)
        extensions = summary.extensions?.object.map { VariableData($0) } ?? [:]
    }

    /// The data as a tree; made whenever it is asked for. nil for a part of an earlier response
    /// (`@defer`, `@stream`).
    public var data: VariableData? {
        guard hasData, let response = try? JSONValue(parsing: bytes) else { return nil }
        return response["data"]?.object.map { VariableData($0) }
    }
}
