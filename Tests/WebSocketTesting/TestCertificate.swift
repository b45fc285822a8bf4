import Testing
package import WebSocketIO

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A certificate for localhost that vouches for itself, valid from 2020 to 2120, in files as long as
/// the value lives. Made with `openssl ca -selfsign`.
package final class TestCertificate {
    package let certificateFile: String
    package let keyFile: String
    private let directory: String

    package init() throws {
        var template = Array("/tmp/websocketio-XXXXXX".utf8CString)
        let path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        directory = try #require(path)
        certificateFile = directory + "/certificate.pem"
        keyFile = directory + "/key.pem"
        try Self.write(Self.certificate, to: certificateFile)
        try Self.write(Self.key, to: keyFile)
    }

    deinit {
        unlink(certificateFile)
        unlink(keyFile)
        rmdir(directory)
    }

    package var identity: HTTPServer.TLSIdentity {
        HTTPServer.TLSIdentity(certificateFile: certificateFile, keyFile: keyFile)
    }

    private static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
        c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
        CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIrSVuu66unhibLB
        ByuaRJ51TiQZx4xGw0omJ+Go5BOi3y8An6RpB3g07MMH85eDzk7YUyMyOH4fbmTG
        ptvOqjqjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
        BTADAQH/MB0GA1UdDgQWBBRMh0PeLDIBXFwVPaU89LjaZQSWyDAKBggqhkjOPQQD
        AgNHADBEAiB4CcfEEOHh2TenrPHFRFkDbCBYcomYxEKMzGPat9plWAIgYABu21Gu
        v/OQ1NIhd2oX25Ykcz46yclGh8VR7hUZp50=
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4lWXZFcQjLriW6XS
        2FShqJV0j3TWBi7shTQXGYgpEGGhRANCAASK0lbruurp4YmywQcrmkSedU4kGceM
        RsNKJifhqOQTot8vAJ+kaQd4NOzDB/OXg85O2FMjMjh+H25kxqbbzqo6
        -----END PRIVATE KEY-----
        """
}
