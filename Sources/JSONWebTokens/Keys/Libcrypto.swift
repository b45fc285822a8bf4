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

/// A text that libcrypto may point to for as long as it likes: an `OSSL_PARAM` keeps the address of its name, which a
/// String passed to C has only during that call.
struct PermanentText {
    let text: StaticString

    init(_ text: StaticString) { self.text = text }

    var address: UnsafePointer<CChar> {
        UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// `OSSL_PKEY_PARAM_RSA_N` and so on; their texts are part of libcrypto's interface.
    static let modulus = PermanentText("n")
    static let exponent = PermanentText("e")
    static let group = PermanentText("group")
    static let point = PermanentText("pub")
    static let digest = PermanentText("digest")

    static let p256 = PermanentText("P-256")
}
