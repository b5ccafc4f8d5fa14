"""Retrieval: finds the facts that matter to a text.

In: an owner's facts with their source turns, and a question. Out: facts, best first.

    retriever.py        all owners' indexes over one embedding model
    embedder.py         text to vectors
    fact_vectors.py     the vectors of a fact
    fact_index.py       the index of one owner's facts
    vector_index.py     similarity of vectors (FAISS)
    keyword_index.py    BM25
    ranking.py          similarities, words and times in one number
"""
