"""The command line of exact results about small games, which `fiveup_env.exact` finds."""
