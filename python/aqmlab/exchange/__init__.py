"""What other tools record and show: their formats, read and written."""
