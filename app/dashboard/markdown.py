"""Text on its way into Streamlit's Markdown."""


def escape(text: str) -> str:
    """Keep dollars out of the hands of KaTeX."""
    return text.replace("$", r"\$")
