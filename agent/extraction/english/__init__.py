"""Rules of English: text comes in, statements with kind, subject, attribute and date go out.

In reading order:

- `tokens`: words, content words and negations
- `normalize`: contractions, missing apostrophes and fillers
- `sentences`: the user's own sentences of a message
- `speech_acts`: questions, requests and hypotheticals, which state nothing
- `statements`: sentences that state something, and its kind, by the phrases of `lexicon`
- `clauses`: the statements of one sentence
- `subjects`: the person or thing that a statement is about
- `attributes`: properties with one value at a time
- `fact_wording`: the candidate with its text
- `time_grammar`: time expressions, for `dates` (of facts) and `periods` (of questions)
- `identifiers`: numbers and names, by which statements are told apart
"""
