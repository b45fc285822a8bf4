import RelayArtifacts
import RelayJSON
import RelayStore

/// A GraphQL response (GraphQL §7.1) that has been written to the store; its data still as it came.
public struct GraphQLResponse: Sendable {
    /// The whole response.
    private let bytes: [UInt8]
    /// Whether there is data; false for `"data": null`.
    public let hasData: Bool
    /// nil where there are none.
    public let errors: [GraphQLError]?
    private let extensionData: JSONObject?
    /// The record that the root fields were written to.
    let root: DataID

    init(_ bytes: [UInt8], _ summary: ResponseSummary, root: DataID) {
        self.bytes = bytes
        self.root = root
        hasData = summary.hasData
        errors = summary.errors.isEmpty ? nil : summary.errors.map(GraphQLError.init)
        extensionData = summary.extensions?.object
    }

    /// The data as a tree; made each time that it is asked for.
    public var data: [String: Any]? {
        hasData ? (try? JSONValue(parsing: bytes))?["data"]?.anyObject : nil
    }

    /// What the server adds.
    public var extensions: [String: Any]? {
        extensionData.flatMap { JSONValue.object($0).anyObject }
    }

    var extensionVariables: VariableData { extensionData.map { VariableData($0) } ?? [:] }
}
