import GraphQLExecution
@_spi(Rooms) import RelayRecords

extension ExecutionError {
    /// What a client sees of a handler's error, if ``InternalErrors`` passes it on.
    package init(thrown error: any Error) {
        switch error {
        case let error as ExecutionError: self = error
        case let error as any CodedError:
            self.init(error.message, code: error.code.map(ErrorCode.init(rawValue:)))
        default: self.init("\(error)")
        }
    }
}
