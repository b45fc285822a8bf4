// The values that handlers take and give, and the proxies that they write through, are those of the
// client runtime: a program that imports RelayServer has them. One by one, because a program has names of
// its own.
@_exported public import struct RelayArtifacts.VariableData
@_exported public import enum RelayArtifacts.VariableValue
@_exported public import protocol RelayArtifacts.VariableValueConvertible
@_exported public import protocol RelayStore.CodedError
@_exported public import enum RelayStore.ConnectionPlace
@_exported public import protocol RelayStore.ConnectionProxy
@_exported public import struct RelayStore.DataID
@_exported public import struct RelayStore.HandlerError
@_exported public import protocol RelayStore.RecordProxy
@_exported public import protocol RelayStore.RecordSourceProxy
