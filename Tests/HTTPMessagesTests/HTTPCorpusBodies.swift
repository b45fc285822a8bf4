/// Bodies with a length. RFC 9112 §6.2, §6.3; RFC 9110 §8.6.
let lengthCases: [HTTPCase] = [
    HTTPCase("9112 §6.2", request(fields: "Content-Length: 003", body: "abc"), "POST /x [abc]"),
    HTTPCase(
        "9112 §6.2", request(fields: "Content-Length: 003", "Ohai: world", body: "abc"),
        "POST /x [abc]"),
    HTTPCase(
        "9112 §6.2", request(fields: "Content-Length: 010", body: "0123456789"),
        "POST /x [0123456789]"),
    HTTPCase("9112 §6.2", request(fields: "Content-Length:  3 \t", body: "abc"), "POST /x [abc]"),
    HTTPCase("9112 §6.2", request(fields: "conTENT-Length:\t3\t  ", body: "abc"), "POST /x [abc]"),
    HTTPCase("9112 §6.2", request(fields: "Content-Length: 0"), "POST /x"),
    HTTPCase(
        "9112 §6.2", request("GET /x HTTP/1.1", fields: "Content-Length: 5", body: "HELLO"),
        "GET /x [HELLO]"),
    HTTPCase("9112 §6.2", "GET /x HTTP/1.0\r\nContent-Length: 5\r\n\r\nHELLO", "GET /x [HELLO]"),
    HTTPCase("9112 §6.2", request(fields: "Content-Length: 5", body: "HELL"), "…"),
    HTTPCase(
        "9112 §6.3 item 5", request(fields: "Content-Length: 1", "Content-Length: 1", body: "x"),
        "400"),
    HTTPCase(
        "9112 §9.3.2",
        request(fields: "Content-Length: 3", body: "AAA")
            + request("PUT /b HTTP/1.1", fields: "Content-Length: 4", body: "BBBB")
            + request("PATCH /c HTTP/1.1", fields: "Content-Length: 5", body: "CCCCC"),
        "POST /x [AAA]", "PUT /b [BBBB]", "PATCH /c [CCCCC]"),
    HTTPCase(
        "9112 §2.2",
        request(fields: "Content-Length: 4", body: "q=42\r\n") + request("GET / HTTP/1.1"),
        "POST /x [q=42]", "GET /"),
    HTTPCase("9110 §15.5.12", request(), "411"),

    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 1", "Content-Length: 2"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 1", "Content-Length: 01"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 3, 3", body: "abc"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 4, 3", body: "abcd"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length:", "Content-Length: 43"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 43", "Content-Length:"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length:"), "400"),
    HTTPCase("9112 §6.3 item 5", request("GET / HTTP/1.1", fields: "Content-Length: "), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 4 2"), "400"),
    HTTPCase(
        "9112 §6.3 item 5", request(fields: "Content-Length: +1_0", body: "0123456789"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: -48"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 0x10", body: "Z"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 1Z", body: "Z"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: 1.0", body: "Z"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: \u{A0}1", body: "Z"), "400"),
    HTTPCase("9112 §6.3 item 5", request(fields: "Content-Length: \u{B2}", body: "ZZ"), "400"),
    // Numbers that fit nothing, and numbers that would become small ones.
    HTTPCase("9110 §8.6", request(fields: "Content-Length: 257"), "413"),
    HTTPCase("9110 §8.6", request(fields: "Content-Length: 9223372036854775807"), "413"),
    HTTPCase("9110 §8.6", request(fields: "Content-Length: 9223372036854775808"), "413"),
    HTTPCase(
        "9110 §8.6", request(fields: "Content-Length: 18446744073709551617", body: "Z"), "413"),
    HTTPCase("9110 §8.6", request(fields: "Content-Length: 1000000000000000000000"), "413"),
    HTTPCase("9110 §8.6", request(fields: "Content-Length: -9223372036854775809"), "400"),
]

/// Bodies in chunks. RFC 9112 §7.1.
let chunkCases: [HTTPCase] = [
    HTTPCase("9112 §7.1", chunked("a\r\n0123456789\r\n0\r\n\r\n"), "POST /x [0123456789]"),
    HTTPCase("9112 §7.1", chunked("A\r\n0123456789\r\n0\r\n\r\n"), "POST /x [0123456789]"),
    HTTPCase(
        "9112 §7.1", chunked("1e\r\nall your base are belong to us\r\n0\r\n\r\n"),
        "POST /x [all your base are belong to us]"),
    HTTPCase(
        "9112 §7.1", chunked("5\r\nhello\r\n6\r\n world\r\n000\r\n\r\n"), "POST /x [hello world]"),
    HTTPCase("9112 §7.1", chunked("0005\r\nhello\r\n0\r\n\r\n"), "POST /x [hello]"),
    HTTPCase("9112 §7.1", chunked("0\r\n\r\n"), "POST /x"),
    HTTPCase("9112 §7.1", chunked("4\r\n\r\n\r\n\r\n0\r\n\r\n"), "POST /x [\r\n\r\n]"),
    HTTPCase(
        "9112 §7.1",
        request(
            "GET /x HTTP/1.1", fields: "transfer-encoding: Chunked", body: "1\r\nZ\r\n0\r\n\r\n"),
        "GET /x [Z]"),
    HTTPCase(
        "9112 §7.1.2", chunked("5\r\nhello\r\n0\r\nVary: *\r\nContent-Type: text/plain\r\n\r\n"),
        "POST /x [hello]"),
    // A trailer never becomes a field of the request. RFC 9110 §6.5.1.
    HTTPCase(
        "9112 §7.1.2", chunked("0\r\nContent-Length: 5\r\n\r\n") + request("GET /y HTTP/1.1"),
        "POST /x", "GET /y"),
    HTTPCase(
        "9112 §7.1.1",
        chunked(
            "5;ilovew3;somuchlove=aretheseparametersfor;another=withvalue\r\nhello\r\n6;blahblah;blah\r\n world\r\n0\r\n\r\n"
        ), "POST /x [hello world]"),
    HTTPCase(
        "9112 §7.1.1",
        chunked(
            "5;ilovew3=\"I \\\"love\\\"; \\\\extensions\\\\\";foo=bar\r\nhello\r\n0;last\r\n\r\n"),
        "POST /x [hello]"),
    HTTPCase("9112 §7.1.1", chunked("5 ; a\t=  b ;c\r\nhello\r\n0\r\n\r\n"), "POST /x [hello]"),
    HTTPCase(
        "9110 §5.6.1.2", chunked("0\r\n\r\n", coding: "Transfer-Encoding: ,chunked"), "POST /x"),
    HTTPCase(
        "9110 §5.6.1.2", chunked("0\r\n\r\n", coding: "Transfer-Encoding: chunked ,\t,"), "POST /x"),
    HTTPCase("9112 §7.1", chunked("3\r\nfoo\r\n"), "…"),
    HTTPCase("9112 §7.1", chunked(""), "…"),
    HTTPCase("9112 §7.1", chunked("0\r\n"), "…"),

    // Sizes.
    HTTPCase("9112 §7.1", chunked("0_2e\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("0x5\r\nhello\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("-0x0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("+5\r\nhello\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("-1\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("   0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("a \r\n0123456789\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("INVALID!!!\r\n") + request("GET /evil HTTP/1.1"), "400"),
    HTTPCase("9112 §7.1", chunked("1these-bytes-never-get-validated\r\nZ\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("\u{660}\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("101\r\n"), "413"),
    HTTPCase(
        "9112 §7.1", chunked("ff\r\n" + String(repeating: "x", count: 255) + "\r\n2\r\n"), "413"),
    HTTPCase("9112 §7.1", chunked("7fffffffffffffff\r\n"), "413"),
    HTTPCase("9112 §7.1", chunked("8000000000000000\r\n"), "413"),
    HTTPCase("9112 §7.1", chunked("ffffffffffffffff\r\n"), "413"),
    HTTPCase("9112 §7.1", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"), "413"),
    HTTPCase("9112 §7.1", chunked("1\r\nZ\r\n7fffffffffffffff\r\n"), "413"),
    HTTPCase(
        "9112 §7.1", chunked("100\r\n" + String(repeating: "x", count: 256) + "\r\n0\r\n\r\n"),
        "POST /x [" + String(repeating: "x", count: 256) + "]"),

    // Line ends.
    HTTPCase("9112 §2.2", chunked("a\r\n0123456789\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §2.2", chunked("5\nhello\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §2.2", chunked("0\n\r\n"), "400"),
    HTTPCase("9112 §2.2", chunked("0\r\n\n"), "400"),
    HTTPCase("9112 §2.2", chunked("5\r\r;ABCD\r\n34\r\nE\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §2.2", chunked("1\r0\n"), "400"),
    HTTPCase("9112 §7.1", chunked("5\r\nABCDE0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("5\r\nABCDEF\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1", chunked("0\r\nX:POST / HTTP/1.1\r\n\r\n"), "POST /x"),
    HTTPCase("9112 §7.1", chunked("0\r\nXX\r\n\r\n"), "400"),

    // Extensions and trailers.
    HTTPCase("9112 §7.1.1", chunked("2 erfrferferf\r\naa\r\n0 rrrr\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2;\r\naa\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2;=x\r\naa\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2;a=\r\naa\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2;a b\r\naa\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2;a \r\naa\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2;a=\"b\"c\r\naa\r\n0\r\n\r\n"), "400"),
    HTTPCase(
        "9112 §7.1.1", chunked("5;ilovew3=\"abc\";somuchlove=\"def; ghi\r\nhello\r\n0\r\n\r\n"),
        "400"),
    HTTPCase("9112 §7.1.1", chunked("5;a=\"b\\\r\nhello\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2;a=\u{0}\r\naa\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("41;a=b\r\rXXXX\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("2\r\r;a\r\n02\r\n41\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.1", chunked("1;a=" + String(repeating: "b", count: 1_100)), "413"),
    HTTPCase(
        "9112 §7.1.1",
        chunked(
            String(repeating: "1;" + String(repeating: "a", count: 500) + "\r\nx\r\n", count: 3)),
        "413"),
    HTTPCase("9112 §7.1", chunked(String(repeating: "0", count: 1_100)), "413"),
    HTTPCase(
        "9112 §7.1.2",
        chunked(
            "0\r\n"
                + String(repeating: "T: " + String(repeating: "x", count: 400) + "\r\n", count: 3)),
        "413"),
    HTTPCase("9112 §7.1.2", chunked("0\r\n T: x\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.2", chunked("0\r\nT : x\r\n\r\n"), "400"),
    HTTPCase("9112 §7.1.2", chunked("0\r\nT: \u{0}\r\n\r\n"), "400"),
]

/// Two servers, two opinions: where one request ends and the next begins. RFC 9112 §6.1, §6.3, §11.2.
let smugglingCases: [HTTPCase] = [
    HTTPCase(
        "9112 §6.3 item 3",
        request(fields: "Content-Length: 5", "Transfer-Encoding: chunked", body: "0\r\n\r\n"), "400"
    ),
    HTTPCase(
        "9112 §6.3 item 3",
        request(fields: "Transfer-Encoding: chunked", "Content-Length: 5", body: "0\r\n\r\n"), "400"
    ),
    HTTPCase(
        "9112 §6.3 item 3",
        request(fields: "Transfer-Encoding: ,chunked", "Content-Length: 5", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §6.3 item 3",
        request(fields: "Transfer-Encoding: identity", "Content-Length: 5", body: "World"), "400"),
    HTTPCase(
        "9112 §6.3 item 3",
        request(fields: "Content-Length: 10", "Transfer-Encoding:", "Transfer-Encoding:"), "400"),
    HTTPCase(
        "9112 §6.1", "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "400"),
    HTTPCase(
        "9112 §6.1",
        request(
            fields: "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §6.1", request(fields: "Transfer-Encoding: chunked, chunked", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §6.1", request(fields: "Transfer-Encoding: deflate, chunked", body: "0\r\n\r\n"),
        "501"),
    HTTPCase(
        "9112 §6.1",
        request(
            fields: "Transfer-Encoding: deflate", "Transfer-Encoding: chunked", body: "0\r\n\r\n"),
        "501"),
    HTTPCase("9112 §6.3 item 4", request(fields: "Transfer-Encoding: pigeons"), "400"),
    HTTPCase(
        "9112 §6.3 item 4",
        request(fields: "Transfer-Encoding: blegh", body: "1\r\nZ\r\n0\r\n\r\n"), "400"),
    HTTPCase("9112 §6.3 item 4", request(fields: "Transfer-Encoding: identity"), "400"),
    HTTPCase("9112 §6.3 item 4", request(fields: "Transfer-Encoding:"), "400"),
    HTTPCase(
        "9112 §6.3 item 4", request(fields: "Transfer-Encoding: chunked, deflate", body: "World"),
        "400"),
    HTTPCase(
        "9112 §6.3 item 4",
        request(fields: "Transfer-Encoding: chunked", "Transfer-Encoding: deflate"), "400"),
    HTTPCase(
        "9112 §6.3 item 4", request(fields: "Transfer-Encoding: chunkedchunked", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §6.3 item 4", request(fields: "Transfer-Encoding: chunked;q=1", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §6.3 item 4", request(fields: "Transfer-Encoding: \"chunked\"", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §6.3 item 4",
        request(fields: "Transfer-Encoding: \u{A0}chunked\u{A0}", body: "0\r\n\r\n"), "400"),
    HTTPCase(
        "9112 §6.3 item 4",
        request(fields: "Transfer-Encoding: chun\u{E2}\u{84}\u{AA}ed", body: "0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9110 §5.5", request(fields: "Transfer-Encoding: \u{B}chunked", body: "0\r\n\r\n"), "400"),
    HTTPCase(
        "9110 §5.6.2", request(fields: "\u{1}Transfer-Encoding: chunked", body: "0\r\n\r\n"), "400"),
    HTTPCase(
        "9112 §2.2",
        request(fields: "x:x\nTransfer-Encoding: chunked", body: "1\r\nA\r\n0\r\n\r\n"), "400"),
    HTTPCase(
        "9112 §2.2", request(fields: "x:\rTransfer-Encoding: chunked", body: "1\r\nA\r\n0\r\n\r\n"),
        "400"),
    HTTPCase(
        "9112 §2.2",
        request("GET / HTTP/1.1", fields: "Dummy: x\nContent-Length: 23")
            + "GET / HTTP/1.1\r\nDummy: GET /admin HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    HTTPCase(
        "9112 §2.2", "GET / HTTP/1.1\r\nHost: a\r\n\rZGET /evil: HTTP/1.1\r\nHost: a\r\n\r\n", "400"
    ),
    HTTPCase(
        "9112 §2.2", "PUT /url HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\rabc\r\n\r\n", "400"),
    HTTPCase(
        "9112 §5.2",
        "POST /hello HTTP/1.1\r\nHost: h\r\nFoo: bar\r\n Content-Length: 38\r\n\r\nGET /bye HTTP/1.1\r\nHost: h\r\n\r\n",
        "400"),
    HTTPCase(
        "9112 §6.3 item 7", request("GET /a HTTP/1.1") + request("GET /b HTTP/1.1"), "GET /a",
        "GET /b"),
    HTTPCase(
        "9112 §9.3",
        request(fields: "Content-Length: 0")
            + request("GET /b HTTP/1.1", fields: "Content-Length: 34"), "POST /x", "…"),
    HTTPCase("9112 §9.3", request("GET /a HTTP/1.1") + "Invalid\r\n\r\n", "GET /a", "400"),
]
