"""Turn a PDF into pages, in a child process with limits: whatever the file does, it does there."""
