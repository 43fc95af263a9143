"""Irregular past forms: English verbs that no ending gives away."""

_FORMS = """
ate became began bit blew bought broke brought built burned caught came chose cut did drank drew
drove fed fell fell felt flew forgot forgave fought found froze gave got grew heard hid held hit
hung kept knew laid lay led left lent let lost made meant met mowed paid put ran rang read rode rose
said sang sank sat saw sent set shook shone shot shut slept slid sold spent spoke spoilt spread
sprang stole stood struck stuck swam swept swung taught thought threw told took tore understood
woke went won wore wound wrote
"""

IRREGULAR_PASTS = frozenset(_FORMS.split())
