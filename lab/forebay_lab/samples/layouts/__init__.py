"""How documents look: one module for each family of layouts, none tied to a language."""
