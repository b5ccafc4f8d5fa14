"""Quality of answers with KV injection: `inferscale eval`.

A data set and settings come in; a report of figures with intervals goes out. In reading
order:

datasets           LoCoMo and Synthetic-Persona-Chat
intervals          means and ratios with bootstrap intervals
arms               the same questions in every arm, with and without facts
eval_session       question selection, engine, provenance of a report
fidelity           likelihood of gold answers, and agreement of replies
token_f1           LoCoMo's score of a reply
answers            token F1 of replies, by arm
end_to_end         from dialogue to answers by the product's own way
retrieval          recall of evidence
peers              Mem0 in a process of its own
extraction_recall  recall and precision of an extractor
without_llm        reports of retrieval and extraction, which load no model
"""
