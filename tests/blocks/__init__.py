"""The code blocks of the pages: found, run, compared with the output that a page shows, and recorded."""
