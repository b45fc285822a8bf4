import Relay

private let fragment = graphql(
    """
    fragment Item_todo on Todo { text complete }
    """)
