"""A corpus that a person brings: lines of text, CSV, TSV, JSON lines, or Parquet.

Bytes -> ``read_table`` -> ``CorpusTable`` -> ``choose_columns`` -> ``Texts``; of any size:
``open_corpus`` -> ``Sentence``. Nothing is left out or changed without a note that says how much.
"""
