"""The plain words of the page Compare."""

INTRO = (
    "Set two scenes side by side, A and B, and see where their attention differs. Begin with one "
    "of these, and change either side below:"
)
CLASSIC = (
    "The well-known pair: with “tired”, “it” should be the animal, with “wide” the street. French "
    "has to decide, as the animal would be “il” and the street “elle”. In the encoder's layer 2, "
    "head 2, “it” does look more at “street” when it is wide; but this small model writes “il” "
    "for both, so it does not tell them apart. “tired” and “wide” have no counterpart on the other "
    "side, so nothing is subtracted there."
)
PICTURE = (
    "Both maps share one scale from 0 to 1. The third is B − A, on the tokens of both: red where B "
    "has more weight, blue where it has less. Tokens correspond where their texts are equal and in "
    "the same order. A cell has a difference only if its query and its key are in both; the others "
    "are hatched, and are never subtracted. Weights are written to three decimals, differences are "
    "those of the numbers written."
)
DIFFERENT_TARGETS = (
    "The two decoders do not read the same tokens: a row of one corresponds to the row of the same "
    "token in the other, though what stands before it may differ."
)
OTHER_SUMMARY = (
    "One side shows a summary of all heads, the other a single head or another summary: their "
    "difference says little."
)
OWN_TARGETS = (
    "Off, both decoders read the same text whenever both sides have the same sentence, so that the "
    "maps can be compared cell by cell: what A writes as trained, or the text given. On, each "
    "reads what its own model writes, with its changes."
)
EQUAL = "Where the two maps can be compared, they are equal to three decimals."
EQUAL_GATES = (
    "A head that is switched off looks where it did, but what it found is not used any more: that "
    "changes what later layers read, so choose a later layer to see a difference."
)
NOTHING_SHARED = "The two maps have no cell in common, so there is nothing to compare."
NO_TRAINING = (
    "This session has no training of its own to show here. Start one on the Training page, or "
    "choose another model below."
)
NO_MODEL = "That model is not here any more, so the last one stays."
NOTHING_ALIKE = (
    "There is no output that the two models share: they do not both write, and what they choose, "
    "or how likely they find which tokens, is of different kinds."
)
NO_TRANSLATION = (
    "Snapshots hold the attention alone. The decoder read {read} at every step; what the model "
    "itself would have written then is not kept."
)
TOO_MANY_EDITS = (
    "The changes of this side are too many for a link: opened elsewhere, it is as trained."
)
NO_LINK = "This is not a Headlight link: copy the whole address of a Headlight page."
NO_OTHER_MODEL = "There is no other model for this sentence."
GONE = "A training that is gone"
NO_SENTENCE = "There was nothing to read in that sentence, so the last one stays."
TAKE_HELP = "The sentence, model, changes and head that the other pages show now."
CHANGES_HELP = (
    "What you changed on the Masks and Heads pages in this model, as it is at the moment you "
    "switch this on."
)
PASTE_HELP = "The address of any Headlight page. It replaces this side."
