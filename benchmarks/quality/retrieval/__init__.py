"""Retrieval: recall of evidence among a conversation's facts, and its time.

LoCoMo's conversations come in; figures by system go out. In reading order:

evidence         tasks of facts, questions and evidence, and recall over them
recall_speed     time of recall among many facts
evidence_recall  InferScale, its parts alone, and Mem0 on the same tasks
"""
