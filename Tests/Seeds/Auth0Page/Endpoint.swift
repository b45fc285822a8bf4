import Foundation

// The page's example uses an endpoint that it does not show.

struct Endpoint {
    let url: URL
}

extension Network {
    var endpoint: Endpoint { Endpoint(url: URL(string: "https://example.org/graphql")!) }
}
