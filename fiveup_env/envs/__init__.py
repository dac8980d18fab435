"""What learners step: episodes and rewards, and one environment for each ecosystem.

episodes    what an episode is, and which seat gets which reward, and when
batch       `Batch`: thousands of games at once, in arrays
aec         the PettingZoo environment: `env` and `raw_env`
single      the Gymnasium environment: one learner among opponents
sb3         the Stable-Baselines3 vector environment
"""
