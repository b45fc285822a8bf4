#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The functions of PostgreSQL's client library, libpq, which is opened when the first connection is made.
///
/// Opened at run time, so that only who uses a shared journal needs the library, and nobody needs its headers.
/// Everything called here has been in libpq since PostgreSQL 12, with the same types (libpq-fe.h).
///
/// Sendable: nothing but addresses of functions, which libpq allows any thread to call, one at a time for each
/// connection.
struct LibPQ: Sendable {
    /// PGconn.
    typealias Connection = OpaquePointer
    /// PGresult.
    typealias Result = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias NoticeReceiver = @convention(c) (UnsafeMutableRawPointer?, Result?) -> Void

    /// PQconninfoOption: keyword, environment variable, compiled-in value, value, label, how to display it, size. An
    /// array of them ends with one without a keyword.
    struct Option {
        private let memory: UnsafeMutableRawPointer

        init(_ memory: UnsafeMutableRawPointer) { self.memory = memory }

        var keyword: Text? { pointer(0) }
        var value: Text? { pointer(3) }
        /// Six pointers and an `int`, filled up to a pointer's size.
        var next: Option { Option(memory + 7 * MemoryLayout<Text?>.stride) }

        private func pointer(_ index: Int) -> Text? {
            memory.load(fromByteOffset: index * MemoryLayout<Text?>.stride, as: Text?.self)
        }
    }

    typealias ConnectStart =
        @convention(c) (
            UnsafePointer<Text?>, UnsafePointer<Text?>, Int32
        ) -> Connection?
    typealias SendQuery =
        @convention(c) (
            Connection, Text, Int32, UnsafePointer<UInt32>?, UnsafePointer<Text?>?,
            UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32

    let parse:
        @convention(c) (
            Text, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> UnsafeMutableRawPointer?
    let freeOptions: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let connectStart: ConnectStart
    let connectPoll: @convention(c) (Connection) -> Int32
    let finish: @convention(c) (Connection) -> Void
    let status: @convention(c) (Connection) -> Int32
    let socket: @convention(c) (Connection) -> Int32
    /// Which server is being connected to: its name, its port, its IP address.
    let host: @convention(c) (Connection) -> Text?
    let port: @convention(c) (Connection) -> Text?
    let hostAddress: @convention(c) (Connection) -> Text?
    let errorMessage: @convention(c) (Connection) -> Text?
    let setNonblocking: @convention(c) (Connection, Int32) -> Int32
    let setNoticeReceiver:
        @convention(c) (
            Connection, NoticeReceiver?, UnsafeMutableRawPointer?
        ) -> NoticeReceiver?
    let send: SendQuery
    let flush: @convention(c) (Connection) -> Int32
    let consumeInput: @convention(c) (Connection) -> Int32
    let isBusy: @convention(c) (Connection) -> Int32
    let takeResult: @convention(c) (Connection) -> Result?
    /// PGnotify: channel, the server's process, payload, and what is private.
    let notifies: @convention(c) (Connection) -> UnsafeMutableRawPointer?
    let clear: @convention(c) (Result?) -> Void
    let resultStatus: @convention(c) (Result?) -> Int32
    let errorField: @convention(c) (Result?, Int32) -> Text?
    let rowCount: @convention(c) (Result) -> Int32
    let columnCount: @convention(c) (Result) -> Int32
    let isNull: @convention(c) (Result, Int32, Int32) -> Int32
    let length: @convention(c) (Result, Int32, Int32) -> Int32
    let value: @convention(c) (Result, Int32, Int32) -> UnsafeMutablePointer<CChar>?

    /// The library, or why it cannot be used. It stays open until the process ends.
    static let shared = load(fileNames)

    #if canImport(Darwin)
        private static let fileNames = ["libpq.5.dylib"]
    #else
        private static let fileNames = ["libpq.so.5"]
    #endif

    /// Opens the first of several files that is there.
    static func load(_ names: [String]) -> Swift.Result<LibPQ, PostgreSQLError> {
        Swift.Result { () throws(PostgreSQLError) in try LibPQ(opening: names) }
    }

    private init(opening names: [String]) throws(PostgreSQLError) {
        var handle: UnsafeMutableRawPointer?
        for name in names where handle == nil { handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) }
        guard let handle else {
            throw .noLibrary(names, reason: dlerror().map { String(cString: $0) } ?? "no reason")
        }
        func function<Function>(_ name: String) throws(PostgreSQLError) -> Function {
            guard let address = dlsym(handle, name) else { throw .noFunction(name) }
            // The types above are those of libpq-fe.h.
            return unsafeBitCast(address, to: Function.self)
        }
        parse = try function("PQconninfoParse")
        freeOptions = try function("PQconninfoFree")
        freeMemory = try function("PQfreemem")
        connectStart = try function("PQconnectStartParams")
        connectPoll = try function("PQconnectPoll")
        finish = try function("PQfinish")
        status = try function("PQstatus")
        socket = try function("PQsocket")
        host = try function("PQhost")
        port = try function("PQport")
        hostAddress = try function("PQhostaddr")
        errorMessage = try function("PQerrorMessage")
        setNonblocking = try function("PQsetnonblocking")
        setNoticeReceiver = try function("PQsetNoticeReceiver")
        send = try function("PQsendQueryParams")
        flush = try function("PQflush")
        consumeInput = try function("PQconsumeInput")
        isBusy = try function("PQisBusy")
        takeResult = try function("PQgetResult")
        notifies = try function("PQnotifies")
        clear = try function("PQclear")
        resultStatus = try function("PQresultStatus")
        errorField = try function("PQresultErrorField")
        rowCount = try function("PQntuples")
        columnCount = try function("PQnfields")
        isNull = try function("PQgetisnull")
        length = try function("PQgetlength")
        value = try function("PQgetvalue")
    }
}

extension LibPQ {
    /// Of what ``notifies`` returned.
    static func payload(of notification: UnsafeMutableRawPointer) -> String {
        let offset = 2 * MemoryLayout<Text?>.stride
        let payload = notification.load(fromByteOffset: offset, as: Text?.self)
        return payload.map { String(cString: $0) } ?? ""
    }
}

/// ConnStatusType, PostgresPollingStatusType and ExecStatusType, as far as they are looked at.
enum LibPQStatus {
    static let connectionBad: Int32 = 1
    static let pollingFailed: Int32 = 0
    static let pollingReading: Int32 = 1
    static let pollingWriting: Int32 = 2
    static let pollingOK: Int32 = 3
    static let emptyQuery: Int32 = 0
    static let commandOK: Int32 = 1
    static let tuplesOK: Int32 = 2
}

/// Which part of an error or notice: the codes of libpq-fe.h and postgres_ext.h.
enum LibPQField {
    /// PG_DIAG_SEVERITY_NONLOCALIZED.
    static let severity = Int32(UInt8(ascii: "V"))
    static let sqlState = Int32(UInt8(ascii: "C"))
    static let message = Int32(UInt8(ascii: "M"))
    static let detail = Int32(UInt8(ascii: "D"))
    static let hint = Int32(UInt8(ascii: "H"))
    /// PG_DIAG_SOURCE_FUNCTION.
    static let function = Int32(UInt8(ascii: "R"))
}
