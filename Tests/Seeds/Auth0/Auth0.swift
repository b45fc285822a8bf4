import Foundation

// As much of Auth0.swift as the network page uses.

public struct Credentials: Sendable {
    public let accessToken: String?

    public init(accessToken: String?) { self.accessToken = accessToken }
}

public final class CredentialsManager: Sendable {
    private let result: Result<Credentials, any Error>

    public init(_ result: Result<Credentials, any Error>) { self.result = result }

    /// Answers later and on another thread, as a manager does that has to refresh a token.
    public func credentials(callback: @escaping (Error?, Credentials?) -> Void) {
        nonisolated(unsafe) let callback = callback
        DispatchQueue.global().async { [result] in
            switch result {
            case .success(let credentials): callback(nil, credentials)
            case .failure(let error): callback(error, nil)
            }
        }
    }
}
