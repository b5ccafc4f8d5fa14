"""Comparison of arms: the same questions without facts, as text and as KV.

Questions of a data set and setups come in; results by arm go out. In reading order:

cases                 questions, their facts best first, and their evidence
setups                ways to encode and to serve facts
encoded_conversation  a conversation's facts on an engine, and its prompts
scoring               greedy replies, and the likelihood of an answer
arm_runner            every question in every arm and setup
"""
