"""Pages that keep themselves up to date: one listener a process, answers shared by all viewers."""
