import Relay

private let subscription = graphql(
    """
    subscription TodoAddedSubscription { todoAdded { todo { id text complete } } }
    """)
