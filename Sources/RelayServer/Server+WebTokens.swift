import JSONWebTokens
import Logging
@_spi(Rooms) import RelayRecords
import WebSocketIO

extension Server {
    /// Which JSON Web Tokens (RFC 7519) are accepted: those that are signed with HS256, RS256, ES256 or EdDSA by one of
    /// the keys, have an `exp` and are good now.
    public struct WebTokenOptions: Sendable {
        /// Where the keys are.
        public enum Keys: Hashable, Sendable {
            /// A file with a JWK Set, or with public keys or certificates as PEM. It is read again when it has changed.
            case file(String)
            /// The same at a URL: `https://`, or `http://` of this machine itself. They are fetched again when their
            /// time is over, and when a token names one that is unknown. Secrets (HS256) are not used: whoever can
            /// fetch them could sign with them.
            case url(String)
        }

        /// Where the keys are.
        public var keys: Keys
        /// What `iss` must be; nil: it is not looked at.
        public var issuer: String?
        /// What `aud` must be or contain; nil: it is not looked at.
        public var audience: String?
        /// The claim that is the viewer's id.
        public var viewerClaim = "sub"
        /// How wrong clocks may be; at most an hour.
        public var leeway: Duration = .seconds(30)

        /// - Parameter keysFile: a file with a JWK Set, or with public keys or certificates as PEM.
        public init(keysFile: String) { keys = .file(keysFile) }

        /// - Parameter keysURL: the address of a JWK Set; `https://`, or `http://` of this machine itself.
        public init(keysURL: String) { keys = .url(keysURL) }
    }
}

extension Server.WebTokenOptions {
    /// - Throws: if there are no keys, and most likely will not be any soon.
    func makeKeys(on loops: NetworkLoops, _ logger: Logger) async throws -> any KeySource {
        switch keys {
        case .file(let path):
            let file = try KeyFile(path: path, now: WallClock.microseconds) { report in
                Self.log(report, of: path, logger)
            }
            Self.log(file.keys.skipped, of: path, logger)
            if file.keys.isEmpty {
                logger.warning(
                    "There are no keys in \(path). JSON Web Tokens are refused until there are keys."
                )
            }
            let failure = file.watch()
            guard failure == 0 else {
                throw ConfigurationError(
                    description:
                        "The server was not started: no thread to watch \(path) with (errno \(failure))."
                )
            }
            return file
        case .url(let url):
            // The first loop accepts connections, and has enough to do.
            let loop = loops.loops[loops.loops.count - 1]
            let start = ContinuousClock.now
            let keys = try await KeyURL.start(
                at: KeyAddress(url), on: loop, now: { start.duration(to: .now) },
                later: { loop.perform(after: $0, $1) }
            ) { report in
                Self.log(report, of: url, logger)
            }
            Self.log(keys.keysAtHand.skipped, of: url, logger)
            return keys
        }
    }

    private static func log(
        _ report: KeptKeys<some Error>.Report, of name: String, _ logger: Logger
    ) {
        switch report {
        case .loaded(let keys):
            logger.notice("The keys in \(name) have changed. Keys in use: \(keys.keys.count).")
            log(keys.skipped, of: name, logger)
        case .kept(let error):
            logger.warning("\(error) The keys that were read before are used.")
        case .missing(let error):
            logger.warning("\(error) JSON Web Tokens are refused until there are keys.")
        }
    }

    private static func log(_ skipped: [SkippedKey], of name: String, _ logger: Logger) {
        for key in skipped { logger.warning("\(name): \(key)") }
    }
}

extension Server.Configuration {
    func makeAuthentication(_ keys: (any KeySource)?, _ logger: Logger) -> Authentication {
        guard let keys, let options = webTokens else {
            return Authentication(tokens: tokens, viewers: viewerTokens, hook: authenticator) {
                logger.debug("\($0)")
            }
        }
        let verifier = TokenVerifier(
            keys: { keys.keysAtHand },
            options: TokenVerifier.Options(
                issuer: options.issuer, audience: options.audience,
                viewerClaim: options.viewerClaim,
                leewaySeconds: Int(options.leeway.components.seconds)),
            now: WallClock.microseconds)
        return Authentication(
            tokens: tokens, viewers: viewerTokens, verifier: verifier, hook: authenticator
        ) { error in
            if case .unknownKey? = error as? TokenError { keys.missedKey() }
            // At a level at which nobody can fill a disk with it.
            logger.debug("\(error)")
        }
    }
}
