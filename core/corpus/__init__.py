"""A corpus that a person brings: lines of text, CSV, TSV, JSON lines, or Parquet.

Bytes -> ``read_table`` -> ``CorpusTable`` -> ``choose_columns`` -> ``Texts``; of any size:
``open_corpus`` -> ``Sentence``. Whatever is left out or changed is reported in a note.
"""
