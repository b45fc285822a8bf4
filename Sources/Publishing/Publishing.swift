// Publishers and subscribers, whichever library has them: the one place that tells the system's Combine from OpenCombine.

#if canImport(OpenCombine)
    @_exported public import OpenCombine
#else
    @_exported public import Combine
#endif
