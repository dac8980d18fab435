"""Learning: networks, policies as files, and the self-play learner."""
