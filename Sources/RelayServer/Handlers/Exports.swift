// The values that handlers take and give, and the proxies that they write through, are those of the
// client runtime: a program that imports RelayServer has them.
@_exported public import RelayArtifacts
@_exported public import RelayStore
