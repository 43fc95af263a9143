"""English words by what they are: pronouns, function words, irregular past forms."""

# Pronouns of the third person, each with the one that stands for all its forms.
PRONOUNS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "he"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "she"),
    **dict.fromkeys(("it", "its", "itself"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves"), "they"),
}

# They hold a sentence together and name nothing. Input embeddings of "the", "a", "and" and "to" are
# closer to each other (cosines of 0.55 to 0.65 in bundled/minilm) than those of "leaves" and
# "foliage" (0.45): they would drown all that is related.
_FUNCTION_WORDS = """
a an the this that these those some any each every no all both either neither such

i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves one who whom whose which what there here

of in on at to by for from with without into onto upon over under above below about against between
among through during before after off out up down as than near toward towards

and or but nor so yet if because while although though when where how why whether since unless until
then

am is are was were be been being do does did doing done have has had having will would shall should
can could may might must not

too very also just only even more most much many other own same again once ever

ve re ll don didn doesn isn wasn aren weren hasn haven hadn won wouldn couldn ain
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())

# No ending gives these verbs away.
_PASTS = """
ate became began bit blew bought broke brought built burned caught came chose cut did drank drew
drove fed fell fell felt flew forgot forgave fought found froze gave got grew heard hid held hit
hung kept knew laid lay led left lent let lost made meant met mowed paid put ran rang read rode rose
said sang sank sat saw sent set shook shone shot shut slept slid sold spent spoke spoilt spread
sprang stole stood struck stuck swam swept swung taught thought threw told took tore understood
woke went won wore wound wrote
"""
IRREGULAR_PASTS = frozenset(_PASTS.split())
