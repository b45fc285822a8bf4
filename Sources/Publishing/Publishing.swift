// Publishers and subscribers: the one place that chooses between the system's Combine and OpenCombine.

#if canImport(OpenCombine)
    @_exported public import OpenCombine
#else
    @_exported public import Combine
#endif
