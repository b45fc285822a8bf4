public import Logging
public import Publishing
@_spi(Rooms) import RelayStore

extension Environment {
    /// What happens to operations and to the store, as it happens; begins with what comes next. At most
    /// 1,024 events wait; then the oldest is dropped.
    public var events: AsyncStream<ExecutionEvent> { log.stream(limit: 1_024) }

    /// The same as a publisher. A subscriber without demand misses what comes meanwhile.
    public var eventPublisher: AnyPublisher<ExecutionEvent, Never> {
        Deferred { [log] in
            let events = PassthroughSubject<ExecutionEvent, Never>()
            let subject = Transfer(value: events)
            let listening = log.listen { subject.value.send($0) }
            return events.handleEvents(receiveCancel: { listening.cancel() })
        }.eraseToAnyPublisher()
    }

    /// Writes events to a logger (swift-log): what failed as an error or warning, everything else at `level`.
    ///
    ///     let logging = environment.log(to: Logger(label: "todo"))
    ///
    /// - Returns: what ends it; keep it.
    public func log(to logger: Logger, level: Logger.Level = .debug) -> AnyCancellable {
        let listening = log.listen { event in
            let level = event.level ?? level
            guard logger.logLevel <= level else { return }
            logger.log(level: level, "\(event.name.rawValue)", metadata: event.metadata)
        }
        return AnyCancellable { listening.cancel() }
    }
}

extension ExecutionEvent {
    /// nil: nothing out of the ordinary.
    fileprivate var level: Logger.Level? {
        switch name {
        case .networkError, .executeError, .missingRequiredFieldThrow: .error
        case .networkInfo, .missingRequiredFieldLog, .fieldPayloadError, .storeSnapshotKept,
            .logOverflow, .executeOptimisticError:
            .warning
        default: nil
        }
    }

    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let operation { metadata["operation"] = "\(operation)" }
        if let transactionID { metadata["transaction"] = "\(transactionID)" }
        if let path { metadata["path"] = "\(path.joined(separator: "."))" }
        if let count { metadata["count"] = "\(count)" }
        if let error { metadata["error"] = "\(error)" }
        return metadata
    }
}
