import CCrypto

/// Calls into libcrypto that may fail.
///
/// What fails leaves messages in the thread's error queue. TLS reads the same queue (`SSL_get_error`), so a refused
/// token would look like a broken connection there. Nothing is left behind.
func callingLibcrypto<Result>(_ body: () -> Result) -> Result {
    // With an empty queue there is nothing to mark, and popping empties it again.
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    return body()
}
