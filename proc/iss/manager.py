"""Manager: supplies the words that a program reads and collects those that it sends, at every level."""

from ...fl.errors import BadInput


def out_of_words(given: int) -> BadInput:
    """The error for a program that reads mngr2proc once more than there are words."""
    return BadInput(
        f"the program reads manager word {given + 1}, and only {given} were given; give as many words as it "
        "reads"
    )
