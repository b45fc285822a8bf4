// What `import Combine` brings on systems that have no Combine: OpenCombine under the same names, and
// URLSession, which on Apple's systems comes with Foundation. For programs of users; nothing of ours
// imports it.

@_exported public import FoundationNetworking
@_exported public import OpenCombine
@_exported public import OpenCombineDispatch
@_exported public import OpenCombineFoundation
