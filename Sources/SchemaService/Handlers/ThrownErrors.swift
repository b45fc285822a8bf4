import GraphQLExecution
@_spi(Rooms) import RelayRecords

extension ExecutionError {
    /// What a client is told about an error that a handler threw: of those that ``InternalErrors`` leaves.
    package init(thrown error: any Error) {
        switch error {
        case let error as ExecutionError: self = error
        case let error as any CodedError:
            self.init(error.message, code: error.code.map(ErrorCode.init(rawValue:)))
        default: self.init("\(error)")
        }
    }
}
