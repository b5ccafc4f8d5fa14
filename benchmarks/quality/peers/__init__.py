"""Peers: other memories, measured on the same tasks.

Evidence tasks come in; ids of found facts and times go out.

mem0_peer     starts Mem0's process, and reads its answer
mem0_process  program that runs under Mem0's own interpreter
"""
