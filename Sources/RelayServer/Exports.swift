// The values that handlers take and give, and the proxies that they write through, are those of the
// client runtime: a program that imports RelayServer has them. One by one, because a program has names of
// its own.
@_exported public import struct GraphQLExecution.Viewer
@_exported public import struct RelayArtifacts.VariableData
@_exported public import enum RelayArtifacts.VariableValue
@_exported public import protocol RelayArtifacts.VariableValueConvertible
@_exported public import protocol RelayRecords.CodedError
@_exported public import enum RelayRecords.ConnectionPlace
@_exported public import protocol RelayRecords.ConnectionProxy
@_exported public import struct RelayRecords.DataID
@_exported public import struct RelayRecords.HandlerError
@_exported public import protocol RelayRecords.RecordProxy
@_exported public import protocol RelayRecords.RecordSourceProxy
@_exported public import struct SchemaService.CommitContext
@_exported public import struct SchemaService.FieldContext
@_exported public import struct SchemaService.Handlers
@_exported public import typealias SchemaService.MutationBody
@_exported public import struct SchemaService.MutationContext
@_exported public import typealias SchemaService.SharedMutation
@_exported public import struct SchemaService.SnapshotReader
@_exported public import struct SchemaService.SnapshotRecord
@_exported public import struct SchemaService.SubscriptionContext
