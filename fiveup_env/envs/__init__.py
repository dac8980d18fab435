"""Environments for learners: episodes and rewards, and an interface for each ecosystem.

episodes    what an episode is, and which reward each seat gets when
batch       `Batch`: thousands of games at once, in arrays
rows        observations: int8 as encoders write them, or scaled to float32
streams     the seeds of the games that an interface plays on its own
opponents   one agent in all seats around a learner, or one for each of them
aec         the PettingZoo environment: `env` and `raw_env`
single      `FiveUpEnv`, the Gymnasium environment: one learner among opponents
vector      `FiveUpVectorEnv`, the Gymnasium vector environment: thousands of learners
sb3         `FiveUpVecEnv`, the Stable-Baselines3 vector environment
"""
