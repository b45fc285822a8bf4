import RelayArtifacts
@_spi(Rooms) import RelayStore
import ResultPatches

extension ConcreteRequest {
    /// How responses become records, if the operation may have many of them and later ones may be sent as
    /// patches of records (docs/websocket.md).
    var patchable: NormalizationOperation? {
        switch params.operationKind {
        case .mutation: return nil
        case .query: guard params.isLive == true else { return nil }
        case .subscription: break
        }
        return operation.isPatchable ? operation : nil
    }
}
