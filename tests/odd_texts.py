"""Texts that no one would call a sentence, as people and machines send them."""

from hypothesis import strategies as st

MARKUP = (
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> '
    "<svg onload=window.hacked=1> [a](javascript:window.hacked=1) ![b](https://example.com/b.png)"
)
ODD_TEXTS = {
    "empty": "",
    "blank": " \t\u00a0\u3000\n ",
    "markup": MARKUP,
    "markdown": "**bold** # head $x^2$ :red[x] :material/home: `code` |a|b|\n|--|--| {{x}} %s",
    "formulas": '=1+1 =HYPERLINK("http://example.com","x") +2 -3 @SUM(A1) \t=4',
    "control signs": "\x00a\x00 \x01\x07\x1b[31m \x7f \u0085 \u2028 \u2029 \ufeff \u00ad \u2060",
    "right to left": "\u202e\u2067right to left \u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627",
    "emoji families": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇫🇷 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "combining marks": "e\u0301\u0301 a" + "\u0301" * 40 + " Z\u0351\u036b\u0343\u036a\u0302\u036b",
    "numbers": "1234 5e10 0x1F NaN -inf 1_000 ١٢٣ ² ½ 007 1,5 #000001 #00000A",
    "special tokens": "<start> <pad> <unk> <end> [CLS] [SEP] [MASK] [PAD] ▁ ##ing </s>",
    "one sign": "!",
    "100,000 characters": "word " * 20_000,
    "one long word": "a" * 100_000,
}

# Half of a character too, and what is between the words of people.
texts = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=("Cs",)),
        st.sampled_from("<>&\"'=+-@#\0\u202e\u200d\u0301▁ 0e"),
    ),
    max_size=40,
)
