/// Methods, targets and versions. RFC 9112 §2.2, §2.3, §3.
let requestLineCases: [HTTPCase] = [
    // What is fine.
    HTTPCase(
        "9112 §3", request("OPTIONS /url HTTP/1.1", fields: "Header2:\t Value2"), "OPTIONS /url"),
    HTTPCase("9112 §3", request("HEAD /url HTTP/1.1"), "HEAD /url"),
    HTTPCase(
        "9112 §3", request("GET /get_one_header HTTP/1.1", fields: "Accept: */*"),
        "GET /get_one_header"),
    HTTPCase("9112 §3", request("GET /test.cgi?foo=bar?baz HTTP/1.1"), "GET /test.cgi"),
    HTTPCase(
        "9112 §3", request("PATCH /f HTTP/1.1", fields: "Content-Length: 2", body: "cc"),
        "PATCH /f [cc]"),
    HTTPCase(
        "9112 §3.2.1", request("GET /with_\"lovely\"_quotes?q=| HTTP/1.1"),
        "GET /with_\"lovely\"_quotes"),
    HTTPCase("9112 §3.2.2", request("GET http://hypnotoad.org?hail=all HTTP/1.1"), "GET /"),
    HTTPCase("9112 §3.2.2", request("GET http://hypnotoad.org:1234 HTTP/1.1"), "GET /"),
    HTTPCase("9112 §3.2.2", request("GET HTTPS://h:1234/p?q HTTP/1.1"), "GET /p"),
    HTTPCase("9112 §3.2.2", request("GET http://[::1]:80/p HTTP/1.1"), "GET /p"),
    HTTPCase("9112 §3.2.4", request("OPTIONS * HTTP/1.1"), "OPTIONS *"),
    HTTPCase("9112 §2.3", "GET / HTTP/1.0\r\n\r\n", "GET /"),
    HTTPCase("9110 §2.5", request("GET / HTTP/1.9"), "GET /"),
    HTTPCase("9112 §2.2", "\r\n\r\n" + request("GET /test HTTP/1.1"), "GET /test"),

    // The line as a whole.
    HTTPCase("9112 §3", "GET / HTTP/1.1\r\nHost: h\r\n", "…"),
    HTTPCase("9112 §3", "GET /\r\n\r\n", "400"),
    HTTPCase("9112 §2.2", "\r\n\r\n"),
    HTTPCase("9112 §3", request("GET  / HTTP/1.1"), "400"),
    HTTPCase("9112 §3", request("GET / HTTP/1.1 "), "400"),
    HTTPCase("9112 §3", request(" GET / HTTP/1.1"), "400"),
    HTTPCase("9112 §3", request("GET\t/ HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2", request("GET /foo bar/ HTTP/1.1"), "400"),
    HTTPCase("9112 §2.2", "GET /\nHTTP/1.1\r\n\r\n", "400"),
    HTTPCase("9112 §2.2", "GET / HTTP/1.1\nHost: h\n\n", "400"),
    HTTPCase("9112 §2.2", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    HTTPCase("9112 §2.2", "GET / HTTP/1.1\rLine: 1\r\n\r\n", "400"),
    HTTPCase("9112 §2.2", "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n", "400"),

    // Methods.
    HTTPCase("9110 §9.1", request("MKCOLA / HTTP/1.1"), "501"),
    HTTPCase("9110 §9.1", request("get / HTTP/1.1"), "501"),
    HTTPCase("9110 §9.1", request("M-SEARCH * HTTP/1.1"), "501"),
    HTTPCase("9112 §3.2.3", request("CONNECT example.com:443 HTTP/1.1"), "501"),
    HTTPCase("9112 §3.1", request("G=\":<>(e),[T];?\" /get HTTP/1.1"), "400"),
    HTTPCase("9112 §3.1", request("G\u{E9}T / HTTP/1.1"), "400"),
    HTTPCase("9112 §3.1", "\u{0} / HTTP/1.1\r\n\r\n", "400"),
    HTTPCase("9113 §3.4", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),

    // Targets.
    HTTPCase("9112 §3.2", request("GET ! HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2", request("GET example.com/x HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.3", request("GET example.com:80 HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.4", request("GET * HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.4", request("OPTIONS *x HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.1", request("GET /forums?page=1#posts-17408 HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.1", request("GET /\u{CE}\u{B4}/pope HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.1", request("GET /\u{1}x HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.1", request("GET /x\u{7F} HTTP/1.1"), "400"),
    HTTPCase("9112 §3.2.1", request("GET /x\u{0} HTTP/1.1"), "400"),
    HTTPCase("9110 §4.2.1", request("GET http:///x HTTP/1.1"), "400"),
    HTTPCase("9110 §4.2.1", request("GET http://:80/x HTTP/1.1"), "400"),
    HTTPCase(
        "9110 §4.2.4", request("GET http://a%12:b!&*$@hypnotoad.org:1234/toto HTTP/1.1"), "400"),
    HTTPCase("9110 §4.2", request("GET ftp://h/x HTTP/1.1"), "400"),
    HTTPCase("9110 §4.2", request("GET http://h:8o/x HTTP/1.1"), "400"),

    // Versions.
    HTTPCase("9112 §2.3", "GET /music ICE/1.0\r\nHost: h\r\n\r\n", "400"),
    HTTPCase("9112 §2.3", "GET /music IHTTP/1.0\r\nHost: h\r\n\r\n", "400"),
    HTTPCase("9112 §2.3", "PUT /music RTSP/1.0\r\nHost: h\r\n\r\n", "400"),
    HTTPCase("9112 §2.3", request("GET / http/1.1"), "400"),
    HTTPCase("9112 §2.3", request("GET / HTTP/1"), "400"),
    HTTPCase("9112 §2.3", request("GET /test HTTP/1.32"), "400"),
    HTTPCase("9112 §2.3", request("GET / HTTP/01.1"), "400"),
    HTTPCase("9112 §2.3", request("GET / HTTP/4294967295.255"), "400"),
    HTTPCase("9112 §2.3", request("GET / HTTP/\r\r1.1"), "400"),
    HTTPCase("9110 §15.6.6", request("GET / HTTP/5.6"), "505"),
    HTTPCase("9110 §15.6.6", request("GET / HTTP/0.9"), "505"),

    // Size. The first is as large as may be.
    HTTPCase(
        "9112 §3",
        "GET /" + String(repeating: "a", count: 997) + " HTTP/1.1\r\nHost: h\r\n\r\n" + "rest",
        "GET /" + String(repeating: "a", count: 997), "…"),
    HTTPCase(
        "6585 §5",
        "GET /" + String(repeating: "a", count: 998) + " HTTP/1.1\r\nHost: h\r\n\r\n",
        "431"),
    HTTPCase("6585 §5", "GET /" + String(repeating: "a", count: 2_000), "431"),
]

/// Names, values and Host. RFC 9112 §5, RFC 9110 §5 and §7.2.
let fieldCases: [HTTPCase] = [
    HTTPCase("9110 §5.6.2", request("GET / HTTP/1.1", fields: "!#$%&'*+-.^_`|~09azAZ: x"), "GET /"),
    HTTPCase(
        "9110 §5.5", request("GET / HTTP/1.1", fields: "Test: D\u{FC}sseldorf", "Empty:"), "GET /"),
    HTTPCase("9110 §5.5", request("GET / HTTP/1.1", fields: "Header2: \u{FF}Value2"), "GET /"),
    HTTPCase("9110 §5.5", request("GET / HTTP/1.1", fields: "aaaaaaaaaaaaa:++++++++++"), "GET /"),

    HTTPCase("9112 §5.1", request("GET / HTTP/1.1", fields: "Foo : x"), "400"),
    HTTPCase("9112 §5.1", request("GET / HTTP/1.1", fields: "Foo\t: x"), "400"),
    HTTPCase(
        "9112 §5.1", request("PUT / HTTP/1.1", fields: "Content-Length : 4", body: "abcd"), "400"),
    HTTPCase("9112 §5.1", request("POST / HTTP/1.1", fields: "Transfer-Encoding : chunked"), "400"),
    HTTPCase("9112 §5", request("GET / HTTP/1.1", fields: ": Bar"), "400"),
    HTTPCase("9112 §5", request("GET / HTTP/1.1", fields: ":"), "400"),
    HTTPCase("9112 §5", request("GET / HTTP/1.1", fields: "NoColon"), "400"),
    HTTPCase(
        "9112 §5", request("GET / HTTP/1.1", fields: "Content-Length 10", body: "0123456789"), "400"
    ),
    HTTPCase("9110 §5.6.2", request("GET / HTTP/1.1", fields: "Fo@: Failure"), "400"),
    HTTPCase("9110 §5.6.2", request("GET / HTTP/1.1", fields: "Foo\u{1}test: Bar"), "400"),
    HTTPCase("9110 §5.6.2", request("GET / HTTP/1.1", fields: "\u{EF}foo: bar"), "400"),
    HTTPCase(
        "9110 §5.6.2",
        request("GET / HTTP/1.1", fields: "Content-Length\u{85}: 10", body: "0123456789"), "400"),
    HTTPCase("9110 §5.6.2", request("GET / HTTP/1.1", fields: "c\u{0}"), "400"),
    HTTPCase("9110 §5.6.2", request("GET / HTTP/1.1", fields: "(),/;<=>?@[/]{}: x"), "400"),

    HTTPCase("9112 §2.2", "GET / HTTP/1.1\r\n Host: foo\r\n\r\n", "400"),
    HTTPCase("9112 §2.2", "GET / HTTP/1.1\r\n\tContent-Length: 1\r\nHost: h\r\n\r\nX", "400"),
    HTTPCase("9112 §5.2", request("GET / HTTP/1.1", fields: "Line1: abc", "\tdef"), "400"),
    HTTPCase("9112 §5.2", request("GET / HTTP/1.1", fields: "Line3:", " line3"), "400"),
    HTTPCase("9112 §5.2", request("GET / HTTP/1.1", fields: "name", " : value"), "400"),
    HTTPCase(
        "9112 §5.2", request(fields: "Transfer-Encoding: chunked", "  abc", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §5.2", request(fields: "Transfer-", "Encoding: chunked", body: "0\r\n\r\n"), "400"),

    HTTPCase("9110 §5.5", request("GET / HTTP/1.1", fields: "Header: v\u{0}\ralue"), "400"),
    HTTPCase("9110 §5.5", request("GET / HTTP/1.1", fields: "Evil: evil\u{0}"), "400"),
    HTTPCase("9110 §5.5", request("GET / HTTP/1.1", fields: "Header1: hello\u{C}world"), "400"),
    HTTPCase("9110 §5.5", request("GET / HTTP/1.1", fields: "X: \u{7F}"), "400"),
    HTTPCase("9112 §2.2", request("GET / HTTP/1.1", fields: "Visible: :/\rSmuggled: :)"), "400"),
    HTTPCase("9112 §2.2", request("GET / HTTP/1.1", fields: "Foo: 1\r"), "400"),
    HTTPCase(
        "9112 §2.2", request("PUT / HTTP/1.1", fields: "Content\rLength: 003", body: "abc"), "400"),
    HTTPCase("9112 §2.2", request("GET / HTTP/1.1", fields: "Te\nst: test"), "400"),
    HTTPCase(
        "9112 §2.2", request("GET / HTTP/1.1", fields: "Useless:\n\nGET /evil HTTP/1.1"), "400"),

    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\n\r\n", "400"),
    // Fields with one value. RFC 9110 §5.3; 6455 §11.3.
    HTTPCase(
        "9110 §8.3", request("GET / HTTP/1.1", fields: "Content-Type: a/b", "Content-Type: a/b"),
        "400"),
    HTTPCase(
        "9110 §11.6.2",
        request("GET / HTTP/1.1", fields: "Authorization: Bearer a", "authorization: Bearer b"),
        "400"),
    HTTPCase("6454 §7.3", request("GET / HTTP/1.1", fields: "Origin: a", "Origin: b"), "400"),
    HTTPCase(
        "6455 §11.3.1",
        request("GET / HTTP/1.1", fields: "Sec-WebSocket-Key: a", "Sec-WebSocket-Key: a"), "400"),
    HTTPCase(
        "6455 §11.3.5",
        request(
            "GET / HTTP/1.1", fields: "Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8"),
        "400"),
    HTTPCase(
        "html §9.2.4", request("GET / HTTP/1.1", fields: "Last-Event-ID: 1", "Last-Event-ID: 2"),
        "400"),
    // Lists may come in several lines.
    HTTPCase("9110 §5.3", request("GET / HTTP/1.1", fields: "Accept: a/b", "Accept: c/d"), "GET /"),

    HTTPCase("9112 §3.2", request("GET / HTTP/1.1", fields: "Host: h"), "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET /"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: 0.0.0.0=5000\r\n\r\n", "GET /"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n\r\n", "GET /"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: b%C3%BCcher.example:\r\n\r\n", "GET /"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: user@h\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: h/p\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: h:80:81\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: h:http\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: []\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: a%zz\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: \u{FF}a\u{FF}\r\n\r\n", "400"),
    HTTPCase("9112 §3.2", "GET / HTTP/1.1\r\nHost: google.com\u{0}.kallus.org\r\n\r\n", "400"),
]
