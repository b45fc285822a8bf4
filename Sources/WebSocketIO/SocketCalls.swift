#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The system's `send`, which must not end the process when the other end is gone.
func sendWithoutSignal(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
    #endif
}

/// The system's `close`, under a name that methods called `close` do not hide.
func closeDescriptor(_ descriptor: Int32) {
    #if canImport(Glibc)
        Glibc.close(descriptor)
    #else
        Darwin.close(descriptor)
    #endif
}
