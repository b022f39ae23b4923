"""The notes of a release are the changelog's section of its version; anything else is refused."""

import pytest

from scripts import ROOT, script

release_notes = script(".github/release_notes.py")

CHANGELOG = """
# Changelog

## [Unreleased]

- later

## [0.2.0] - a day

- new

## [0.1.0] - a day

- first
"""


def test_a_release_has_the_section_of_its_version() -> None:
    assert release_notes.notes("v0.2.0", "0.2.0", CHANGELOG) == "- new\n"
    assert release_notes.notes("v0.1.0", "0.1.0", CHANGELOG) == "- first\n"


@pytest.mark.parametrize(
    ("tag", "version", "said"),
    [("v0.3.0", "0.2.0", "expected v0.2.0"), ("v0.3.0", "0.3.0", "no section '## 0.3.0'")],
)
def test_what_does_not_agree_is_refused(tag: str, version: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"version|section") as raised:
        release_notes.notes(tag, version, CHANGELOG)
    assert said in str(raised.value)


def test_the_version_to_cite_is_that_of_the_package() -> None:
    import celltrain as ct

    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {ct.__version__}\n" in cited
