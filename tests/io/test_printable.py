"""Names from files cannot steer a terminal."""

import pytest

from protgnn.io.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nb\tc\r\0", r"a\nb\tc\r\x00"),
        ("\x7f\x9b", r"\x7f\x9b"),
        ("\u202egnp", r"\u202egnp"),
        ("\udc80", r"\udc80"),
        ("héllo → 分子 [b] \\x1b 👩\u200d🔬", "héllo → 分子 [b] \\x1b 👩\u200d🔬"),
    ],
)
def test_what_would_steer_a_terminal_is_spelled_out_and_the_rest_stays(text, shown):
    assert printable(text) == shown


def test_what_is_to_be_kept_is_kept():
    assert printable("a\nb\x1b\tc", keep="\n") == "a\nb\\x1b\\tc"
